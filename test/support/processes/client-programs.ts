// Programs that use clients of other projects: where they are installed, and how a test runs them.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const SOURCES = join(import.meta.dirname, '../../clients')
/** Outside the repository, and kept: installing takes longer than the tests. */
export const KEPT = process.env['CLIENTS_DIR'] ?? join(tmpdir(), 'depot-clients')
/** Seconds since 1970 after which no client starts. Default: no limit */
const UNTIL_SECONDS = Number(process.env['CLIENTS_UNTIL'] ?? Number.POSITIVE_INFINITY)
const INSTALL_MS = 600_000
const RUN_MS = 120_000
const INSTALLED = 'installed'
const NO_TIME = 'the time for clients is over'

type Command = { file: string; args: string[] }

/** Commands that install a client into its folder and run its program there. */
export type ClientProgram = {
  /** The folder of its sources in `test/clients`, if it has any. */
  name: string
  needs: string[]
  /** Downloads. If one fails, a registry does not have what is named, or there is no network. */
  install: Command[]
  /** Commands that compile the program without a network. If one fails, the program is wrong. Default: none */
  build?: Command[]
  program: Command
  /** The one host that it knows, where its address is part of its code. */
  onlyHost?: string
}

/** A client cannot be used on this machine, or not in the time that remains. The message states the reason. */
class Unavailable extends Error {}

/** Whether every program that it needs is on this machine. */
export async function canRun({ needs }: Pick<ClientProgram, 'needs'>): Promise<boolean> {
  const found = await Promise.allSettled(needs.map((program) => run('sh', ['-c', `command -v ${program}`])))
  return found.every(({ status }) => status === 'fulfilled')
}

/** Skips a test and returns false if a tool is missing or no time is left. */
export async function isReady(context: TestContext, needs: string[]): Promise<boolean> {
  const reason = !(await canRun({ needs }))
    ? `this needs ${needs.join(' and ')}`
    : remainingMs() > 0
      ? undefined
      : NO_TIME
  if (reason !== undefined) context.skip(reason)
  return reason === undefined
}

/**
 * Installs a client for a test. Skips the test and returns undefined if a tool or a registry does not have what the client
 * needs, or if no time is left.
 */
export async function openClient(context: TestContext, client: ClientProgram): Promise<string | undefined> {
  if (!(await isReady(context, client.needs))) return undefined
  try {
    return await installClient(client)
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    context.skip(error.message)
    return undefined
  }
}

/**
 * Copies the program's sources to a folder of their state and installs what they name, unless that was done before.
 * @returns the folder.
 * @throws what the installation printed, where a registry does not answer or has not what is named.
 */
export async function installClient({ name, install, build = [] }: ClientProgram): Promise<string> {
  const sources = join(SOURCES, name)
  const folder = join(KEPT, `${name}-${stateOf(sources)}`)
  if (existsSync(join(folder, INSTALLED))) return folder
  mkdirSync(folder, { recursive: true })
  if (existsSync(sources)) cpSync(sources, folder, { recursive: true })
  for (const command of install) {
    await runInTime(command, folder).catch((error: Error) => {
      if (error instanceof Unavailable) throw error
      throw new Unavailable(`its registry does not have it here: ${error.message}`)
    })
  }
  for (const command of build) await runInTime(command, folder)
  writeFileSync(join(folder, INSTALLED), '')
  return folder
}

/** Runs a command. @throws Unavailable if the time for clients is over before it has finished. */
async function runInTime({ file, args }: Command, cwd: string): Promise<void> {
  try {
    await run(file, args, { cwd, timeout: Math.max(1, Math.min(INSTALL_MS, remainingMs())) })
  } catch (error) {
    throw remainingMs() > 0 ? error : new Unavailable(NO_TIME)
  }
}

/** Milliseconds until the time for clients is over; infinite without a limit. */
export const remainingMs = (): number => UNTIL_SECONDS * 1000 - Date.now()

function stateOf(folder: string): string {
  const hash = createHash('sha256')
  if (!existsSync(folder)) return 'without-sources'
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).sort(byPath)) {
    if (entry.isFile()) hash.update(entry.name).update(readFileSync(join(entry.parentPath, entry.name)))
  }
  return hash.digest('hex').slice(0, 12)
}

function byPath(a: { parentPath: string; name: string }, b: { parentPath: string; name: string }): number {
  return join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1
}

/**
 * Runs the client's program in its folder; fails with the output of the program.
 * @returns what it printed.
 */
export async function runClient(
  cwd: string,
  { program }: Pick<ClientProgram, 'program'>,
  env: Record<string, string>,
  timeout = RUN_MS,
): Promise<string> {
  const options = { cwd, timeout, env: { ...process.env, ...env } }
  const { stdout } = await run(program.file, program.args, options).catch((error) => {
    // The message has only the standard error.
    throw Object.assign(error, { message: `${error.message}\n${error.stdout}` })
  })
  return stdout
}
