// Starts a real Depot as a separate process, for tests of process features: start, stop, signals and the command line.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../../..')
export const ENTRY = join(ROOT, 'bin/depot.mjs')
const run = promisify(execFile)

export type Finished = { code: number; stdout: string; stderr: string }

export type RunningDepot = {
  url: string
  child: ChildProcess
  /** Everything printed so far. */
  output(): string
  /** Sends a signal and waits for the end; the exit code, or the signal that ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals | null>
}

/** A data folder that goes when the test is over; the database's own user can pass it when the tests run as root. */
export function makeDataDir(): { dataDir: string; remove(): void } {
  const dataDir = mkdtempSync(join(tmpdir(), 'depot-run-'))
  chmodSync(dataDir, 0o711)
  return { dataDir, remove: () => rmSync(dataDir, { recursive: true, force: true }) }
}

function environment(dataDir: string, more: Record<string, string>): Record<string, string | undefined> {
  const { TEST_DATABASE_URL: _, DATABASE_URL: __, ...inherited } = process.env
  return { ...inherited, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'info', ...more }
}

/** Starts `depot serve` on a free port, by this Node unless another is named, and waits until it answers. */
export async function startDepot(
  dataDir: string,
  env: Record<string, string> = {},
  args: string[] = [],
  node = process.execPath,
): Promise<RunningDepot> {
  return startCommand([node, ENTRY, 'serve', ...args], environment(dataDir, env))
}

/**
 * Starts a server by any command in a folder (default: the root of the repository) and waits until it responds. The
 * server leads its own process group, so `-pid` reaches all its processes.
 */
export async function startDepotBy(
  words: readonly string[],
  dataDir: string,
  env: Record<string, string> = {},
  cwd = ROOT,
): Promise<RunningDepot> {
  return startCommand(words, environment(dataDir, env), { cwd, detached: true })
}

async function startCommand(
  [command = '', ...args]: readonly string[],
  env: Record<string, string | undefined>,
  options: { cwd?: string; detached?: boolean } = {},
): Promise<RunningDepot> {
  const child = spawn(command, args, { env: env as NodeJS.ProcessEnv, stdio: ['ignore', 'pipe', 'pipe'], ...options })
  let text = ''
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const read = (chunk: Buffer): void => {
    text += chunk.toString()
    // Commit 6d01877, with which a bench compares, says that it answers.
    const match = /Depot (?:(?:listens|answers) on ([^\s"]+)|runs jobs)/.exec(text)
    if (match !== null) resolve(match[1] ?? '')
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const ended = new Promise<number | NodeJS.Signals | null>((settle) =>
    child.on('exit', (code, signal) => settle(code ?? signal)),
  )
  void ended.then((code) => reject(new Error(`depot serve ended with ${code}: ${text}`)))
  const url = await promise
  return {
    url,
    child,
    output: () => text,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
}

/** Lines of progress, which commands print on standard error when the machine is slow. */
const PROGRESS_LINES = /^[A-Z][a-z ]+: \d[^a-z\n]*(?: (?:of|bytes|k?B|MB|GB)[^a-z\n]*)*\n/gm

/** Returns the errors of a command without its progress. */
export const withoutProgress = (stderr: string): string => stderr.replaceAll(PROGRESS_LINES, '')

/** Runs one command to its end, whatever its exit code. Omits its progress. */
export async function depot(dataDir: string, args: string[], env: Record<string, string> = {}): Promise<Finished> {
  try {
    const { stdout, stderr } = await run(process.execPath, [ENTRY, ...args], {
      env: environment(dataDir, env) as NodeJS.ProcessEnv,
    })
    return { code: 0, stdout, stderr: withoutProgress(stderr) }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr: withoutProgress(stderr) }
  }
}
