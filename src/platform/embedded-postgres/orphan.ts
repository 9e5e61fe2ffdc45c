// Stops the PostgreSQL that a killed Depot left running. A restart takes 0.1 seconds, and gives the new owner a child
// process with the current settings and a log. Reusing the running server would not.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { OperatorError } from '#lib/operator-error.ts'
import { disownPostmasterFile, isSameFolder, readPostmasterFile } from './cluster.ts'

/** Relation of the process in postmaster.pid to the database folder. If `unknown`, PostgreSQL decides whether to start. */
type Standing = 'gone' | 'ours' | 'foreign' | 'unknown'

/** Fast shutdown, then immediate shutdown. The next start can recover the folder after both. */
const STEPS = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 10_000],
] as const
const POLL_MS = 5

/**
 * Stops the server that an earlier owner left running on `clusterDir`. Only the process with the lock of the data folder
 * can call this function, because the lock proves that a running server has no owner.
 * @throws OperatorError if the server does not stop within 20 seconds.
 */
export async function endOrphan(clusterDir: string, onOrphan: (pid: number) => void): Promise<void> {
  const file = readPostmasterFile(clusterDir)
  if (file === undefined) return
  const standing = standingOf(file, clusterDir)
  if (standing === 'foreign') disownPostmasterFile(clusterDir)
  if (standing !== 'ours') return
  onOrphan(file.pid)
  for (const [signal, graceMs] of STEPS) {
    const deadline = performance.now() + graceMs
    sendSignal(file.pid, signal)
    while (performance.now() < deadline) {
      await delay(POLL_MS)
      if (standingOf(file, clusterDir) !== 'ours') return
    }
  }
  throw new OperatorError(
    `The PostgreSQL of an earlier Depot process (process ${file.pid}) still uses ${clusterDir} and does not stop. Stop it manually.`,
  )
}

function standingOf({ pid, folder }: { pid: number; folder: string }, clusterDir: string): Standing {
  const command = commandLine(pid)
  if (command === undefined) return 'gone'
  if (!command.includes('postgres') || !`${command} `.includes(` -D ${folder} `)) return 'foreign'
  const isSame = isSameFolder(folder, clusterDir)
  if (isSame === undefined) return 'unknown'
  return isSame ? 'ours' : 'foreign'
}

/** Returns the command line of a process, with spaces between the arguments; empty for a zombie process. */
function commandLine(pid: number): string | undefined {
  if (existsSync('/proc/self/cmdline')) {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trimEnd()
    } catch {
      return undefined
    }
  }
  const listed = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
  return listed.status === 0 ? listed.stdout.trimEnd() : undefined
}

/** Sends a signal to a process; ignores the error if the process has already exited. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
