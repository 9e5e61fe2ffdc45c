// Making the database folder ("cluster" in PostgreSQL's words), checking its version, and clearing what a killed
// process left in it.
import { execFile } from 'node:child_process'
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type DatabaseLocation, syncFolder } from './location.ts'
import { EmbeddedPostgresError, systemCode } from './start-error.ts'
import { type SystemUser, spawnAs } from './system-user.ts'

export const ROLE = 'depot'
export const DATABASE = 'depot'
/** The whole environment of PostgreSQL's programs: none of Depot's secrets, no foreign PG* settings. */
export const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' }

const UNFINISHED_PREFIX = 'postgres.new-'
const PROGRAM_TIMEOUT_MS = 120_000

/** @throws EmbeddedPostgresError when the folder was made by another major version than `major`. */
export function checkVersion(clusterDir: string, major: number): void {
  const found = readFileSync(join(clusterDir, 'PG_VERSION'), 'utf8').trim()
  if (found === String(major)) return
  throw new EmbeddedPostgresError(
    `The database in ${clusterDir} was made by PostgreSQL ${found} and this Depot brings PostgreSQL ${major}; ` +
      `dump it with PostgreSQL ${found} and restore it, or start the Depot version that made it.`,
  )
}

/**
 * Makes the cluster with its role and its database, under another name until it is complete and on disk: a start that
 * is killed half-way leaves nothing that looks like a database.
 */
export async function createCluster(binDir: string, { root, clusterDir, user }: DatabaseLocation): Promise<void> {
  const fresh = mkdtempSync(join(root, UNFINISHED_PREFIX))
  try {
    if (user !== undefined) chownSync(fresh, user.uid, user.gid)
    const initdb = join(binDir, 'initdb')
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    const access = [`--username=${ROLE}`, '--auth-local=trust', '--auth-host=reject']
    await run(initdb, ['-D', fresh, ...access, ...locale, '--no-sync', '--no-instructions'], user)
    const single = ['--single', '-D', fresh, '-c', 'fsync=off', '-c', 'log_checkpoints=off', 'postgres']
    const said = await run(join(binDir, 'postgres'), single, user, `CREATE DATABASE ${DATABASE}\n`)
    // The single-user mode ends with success even when its statement failed.
    if (reasonIn(said) !== undefined) throw failure(clusterDir, said)
    await run(initdb, ['--sync-only', '-D', fresh], user)
    await rename(fresh, clusterDir)
    syncFolder(dirname(clusterDir))
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    if (error instanceof ProgramError) throw failure(clusterDir, error.said, error)
    throw error
  }
}

/**
 * Removes what killed starts left half-made, as far as that goes: an initdb that outlived its Depot for a moment may
 * still write there, and what it writes now goes with the next start.
 */
export function removeUnfinished({ root }: DatabaseLocation): void {
  for (const name of readdirSync(root)) {
    if (!name.startsWith(UNFINISHED_PREFIX)) continue
    try {
      rmSync(join(root, name), { recursive: true, force: true })
    } catch (error) {
      if (systemCode(error) !== 'ENOTEMPTY') throw error
    }
  }
}

class ProgramError extends Error {
  readonly said: string
  constructor(said: string, cause: unknown) {
    super('A PostgreSQL program failed', { cause })
    this.said = said
  }
}

/** Runs one program to its end, and resolves with what it wrote to standard error. */
function run(program: string, args: readonly string[], user: SystemUser | undefined, input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: '/', env: ENVIRONMENT, timeout: PROGRAM_TIMEOUT_MS, ...spawnAs(user) }
    const child = execFile(program, args, options, (error, _stdout, stderr) => {
      if (error === null) resolve(stderr)
      else reject(new ProgramError(stderr === '' ? error.message : stderr, error))
    })
    // A program that ends before it reads its input is reported by its exit, not by the broken pipe.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

function failure(clusterDir: string, said: string, cause?: unknown): EmbeddedPostgresError {
  const reason = reasonIn(said) ?? said.trim().split('\n').at(-1) ?? ''
  return new EmbeddedPostgresError(`PostgreSQL could not make a database in ${clusterDir}: ${reason}`, { cause })
}

/** The most telling line of a program's standard error: the first error it names. */
export function reasonIn(said: string): string | undefined {
  return /(?:error|FATAL|PANIC|ERROR): +(.+)/.exec(said)?.[1]
}

/** What postmaster.pid says: who serves this folder, and whether it takes connections yet. */
export type PostmasterFile = { pid: number; folder: string; ready: boolean }

export function readPostmasterFile(clusterDir: string): PostmasterFile | undefined {
  let text: string
  try {
    text = readFileSync(join(clusterDir, 'postmaster.pid'), 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
  // By line: process id, data folder, start time, port, socket folder, address, shared memory, status.
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  return { pid, folder: lines[1] ?? '', ready: lines[7]?.trim() === 'ready' }
}

/**
 * Writes our own id into a postmaster.pid whose process is not a server of this folder. PostgreSQL refuses to start
 * while the id in that file is anyone's, which after a restart (in a container above all) is often a stranger's; its
 * parent's id it takes for stale. It still checks the shared memory named in the file, so it keeps the last word.
 */
export function disownPostmasterFile(clusterDir: string): void {
  const path = join(clusterDir, 'postmaster.pid')
  const lines = readFileSync(path, 'utf8').split('\n')
  writeFileSync(path, [String(process.pid), ...lines.slice(1)].join('\n'))
}

/** Whether two paths are one folder; undefined when one of them is not there. */
export function isSameFolder(a: string, b: string): boolean | undefined {
  const [first, second] = [a, b].map((path) => statSync(path, { throwIfNoEntry: false }))
  if (first === undefined || second === undefined) return undefined
  return first.dev === second.dev && first.ino === second.ino
}
