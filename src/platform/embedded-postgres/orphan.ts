// Ends the PostgreSQL that a killed Depot left running. Stopping it and starting again costs a tenth of a second and
// gives the new owner a child process with its own settings and log; adopting it would give neither.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { disownPostmasterFile, isSameFolder, readPostmasterFile } from './cluster.ts'
import { EmbeddedPostgresError } from './start-error.ts'

/** What the process named in postmaster.pid is; `unknown` leaves the judgement to PostgreSQL. */
type Standing = 'gone' | 'ours' | 'foreign' | 'unknown'

/** Fast shutdown, then immediate shutdown; both leave a folder that the next start recovers. */
const STEPS = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 10_000],
] as const
const POLL_MS = 5

/**
 * Returns once no server of an earlier owner serves `clusterDir`. Only the holder of the data folder's lock may call
 * this: the lock is what says that a running server has no owner.
 * @throws EmbeddedPostgresError when such a server does not end within 20 seconds.
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
  throw new EmbeddedPostgresError(
    `A PostgreSQL left by an earlier Depot (process ${file.pid}) still serves ${clusterDir} and does not stop; end it by hand.`,
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

/** The words of a process's command line, joined by blanks; empty for a dead one not yet collected by its parent. */
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

/** A process that ended between the look and the signal is as good as signalled. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
