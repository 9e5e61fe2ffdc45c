// A real OpenSearch for tests: the engine at TEST_OPENSEARCH_URL, or one per test file. Index names are unique, so test
// files can share an engine.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '#test/support/processes/free-port.ts'

const SCRIPT = join(import.meta.dirname, '../../../scripts/engines/opensearch.sh')
const run = promisify(execFile)
const env = { ...process.env, ENGINES_INSTALL: 'no' }
/** The exit code of a script whose engine is missing. */
const MISSING = 3

export type TestOpenSearch = {
  readonly url: string
  /** A unique prefix. */
  prefix(): string
  stop(): Promise<void>
}

/** @returns the reason, where it is not installed: tests install nothing. */
export async function startOpenSearch(): Promise<TestOpenSearch | string> {
  const { TEST_OPENSEARCH_URL: given } = process.env
  if (given !== undefined) return { url: given, prefix, stop: async () => undefined }
  try {
    const engine = await startOwnOpenSearch()
    return { url: engine.url, prefix, stop: engine.remove }
  } catch (error) {
    const { code, stderr } = error as { code?: number; stderr?: string }
    if (code === MISSING) return stderr?.trim() ?? 'OpenSearch is not installed'
    throw error
  }
}

export type OwnOpenSearch = {
  readonly url: string
  readonly pid: number
  /** Stops it like a service manager, or kills it; its stored data remains. */
  end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Restarts it with its stored data. */
  again(): Promise<void>
  /** Ends it and removes what it stored. */
  remove(): Promise<void>
}

/** An engine that the caller alone has, and may end; it must be installed. */
export async function startOwnOpenSearch(): Promise<OwnOpenSearch> {
  const folder = await mkdtemp(join(tmpdir(), 'depot-opensearch-'))
  const port = await freePort(1)
  const start = async () => {
    const { stdout } = await run(SCRIPT, ['start', String(port), folder], { env, timeout: 300_000 })
    const found = (name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(stdout)?.[1] ?? ''
    return { url: found('OPENSEARCH_URL'), pid: Number(found('OPENSEARCH_PID')) }
  }
  let running = await start()
  const stop = async () => void (await run(SCRIPT, ['stop', folder], { timeout: 60_000 }))
  return {
    url: running.url,
    get pid() {
      return running.pid
    },
    async end(signal = 'SIGTERM') {
      if (signal === 'SIGKILL') process.kill(running.pid, signal)
      await stop()
    },
    async again() {
      running = await start()
    },
    async remove() {
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function prefix(): string {
  return `test-${randomBytes(6).toString('hex')}`
}
