// Real engines for tests, by the scripts of `scripts/engines/`.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '#test/support/processes/free-port.ts'

const run = promisify(execFile)
/** The exit code of a script whose engine is missing. */
const MISSING = 3

export type Engine = {
  /** The output of the script: URLs, names and keys. */
  settings: Record<string, string>
  port: number
  /** Ends it as an operator does. */
  stop(): Promise<void>
  /** Starts it again on the same port and folder. */
  start(): Promise<void>
  /** Sends a signal to its process, which does not end it in good order: SIGKILL, SIGSTOP, SIGCONT. */
  signal(name: NodeJS.Signals): void
  /** Ends it and removes its folder. */
  remove(): Promise<void>
}

/**
 * Starts an engine on a free port with its own folder. If the engine is not installed, returns a sentence that says so:
 * tests install nothing.
 */
export async function startEngine(name: 'redis' | 's3' | 'opensearch' | 'clickhouse'): Promise<Engine | string> {
  const script = join(import.meta.dirname, `../../../scripts/engines/${name}.sh`)
  const folder = await mkdtemp(join(tmpdir(), `depot-${name}-`))
  const port = await freePort()
  const start = async (): Promise<Record<string, string>> => {
    const { stdout } = await run(script, ['start', String(port), folder], {
      env: { ...process.env, ENGINES_INSTALL: 'no' },
    })
    return Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    )
  }
  try {
    let settings = await start()
    return {
      settings,
      port,
      stop: async () => {
        await run(script, ['stop', folder])
      },
      start: async () => {
        settings = await start()
      },
      signal: (signal) => void process.kill(Number(settings[`${name.toUpperCase()}_PID`]), signal),
      remove: async () => {
        await run(script, ['stop', folder])
        await rm(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    const { code, stderr } = error as { code?: number; stderr?: string }
    if (code === MISSING) return stderr?.trim() ?? 'missing'
    throw error
  }
}
