// Creates the database folder (PostgreSQL's term: cluster), checks its version, and cleans up after killed processes.
import { execFile } from 'node:child_process'
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OperatorError, systemCode } from '#lib/operator-error.ts'
import { type DatabaseLocation, syncFolder } from './location.ts'
import { type SystemUser, spawnAs } from './system-user.ts'

export const ROLE = 'depot'
export const DATABASE = 'depot'
/** Complete environment of PostgreSQL's programs, without Depot's secrets and without inherited PG* settings. */
export const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' }

const UNFINISHED_PREFIX = 'postgres.new-'
const PROGRAM_TIMEOUT_MS = 120_000

/** @throws OperatorError if a major version other than `major` created the folder. */
export function checkVersion(clusterDir: string, major: number, former?: string): void {
  const found = readFileSync(join(clusterDir, 'PG_VERSION'), 'utf8').trim()
  if (found === String(major)) return
  const release = former === undefined ? 'this version of Depot' : `the release in ${former}`
  throw new OperatorError(
    `PostgreSQL ${found} created the database in ${clusterDir}, but ${release} includes PostgreSQL ${major}. ` +
      'Keep the release of Depot that created the database in another folder, and run ' +
      '`depot move database --to SETTINGS --former FOLDER` with this release.',
  )
}

/**
 * Creates the cluster with its role and its database, under a temporary name until it is complete and on disk. So a
 * killed start never leaves an incomplete database.
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
    // Single-user mode exits with code 0 even if its statement fails.
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
 * Removes the incomplete clusters of killed starts. If an initdb of a killed Depot still writes to such a folder, the
 * next start removes the folder.
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

/** Runs a program and resolves with its standard error output when it exits. */
function run(program: string, args: readonly string[], user: SystemUser | undefined, input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: '/', env: ENVIRONMENT, timeout: PROGRAM_TIMEOUT_MS, ...spawnAs(user) }
    const child = execFile(program, args, options, (error, _stdout, stderr) => {
      if (error === null) resolve(stderr)
      else reject(new ProgramError(stderr === '' ? error.message : stderr, error))
    })
    // If a program exits before it reads its input, its exit code describes the failure better than the broken pipe.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

function failure(clusterDir: string, said: string, cause?: unknown): OperatorError {
  const reason = reasonIn(said) ?? said.trim().split('\n').at(-1) ?? ''
  return new OperatorError(`PostgreSQL could not create a database in ${clusterDir}: ${reason}`, { cause })
}

/** Returns the first error message in the standard error output of a program. */
export function reasonIn(said: string): string | undefined {
  return /(?:error|FATAL|PANIC|ERROR): +(.+)/.exec(said)?.[1]
}

/** Content of postmaster.pid: the server process of the folder, and whether it accepts connections. */
export type PostmasterFile = { pid: number; folder: string; ready: boolean }

export function readPostmasterFile(clusterDir: string): PostmasterFile | undefined {
  let text: string
  try {
    text = readFileSync(join(clusterDir, 'postmaster.pid'), 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
  // By line: process ID, data folder, start time, port, socket folder, listen address, shared memory, status.
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  return { pid, folder: lines[1] ?? '', ready: lines[7]?.trim() === 'ready' }
}

/**
 * Writes the ID of this process to a postmaster.pid whose process is not a server of this folder. PostgreSQL does not
 * start while a process with the ID in the file exists; after a restart, especially in a container, this is often an
 * unrelated process. PostgreSQL ignores the ID of its parent process. It still checks the shared memory named in the file.
 */
export function disownPostmasterFile(clusterDir: string): void {
  const path = join(clusterDir, 'postmaster.pid')
  const lines = readFileSync(path, 'utf8').split('\n')
  writeFileSync(path, [String(process.pid), ...lines.slice(1)].join('\n'))
}

/** Returns whether two paths refer to the same folder; undefined if one of them does not exist. */
export function isSameFolder(a: string, b: string): boolean | undefined {
  const [first, second] = [a, b].map((path) => statSync(path, { throwIfNoEntry: false }))
  if (first === undefined || second === undefined) return undefined
  return first.dev === second.dev && first.ino === second.ino
}
