// ClickHouse for tests, with a database for each test file: the server of TEST_CLICKHOUSE_URL, otherwise one that the file
// starts in `npm run test:engines`. Tests are skipped if there is neither.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { after } from 'node:test'
import { promisify } from 'node:util'
import { createClient } from '@clickhouse/client'
import { freePort } from '#test/support/processes/free-port.ts'
import { startEngine } from './engine.ts'

const run = promisify(execFile)
const given = process.env['TEST_CLICKHOUSE_URL']
const wanted = given === undefined && process.env['TEST_ENGINES'] !== undefined
const started = wanted ? await startEngine('clickhouse') : 'TEST_CLICKHOUSE_URL is not set'
if (typeof started === 'object') after(() => started.remove())
const url = given ?? (typeof started === 'object' ? started.settings['CLICKHOUSE_URL'] : undefined)
/** The server itself: the database in the URL might not exist. */
const server = url === undefined ? undefined : new URL('/', url).href

/** For `describe` and `test`: why there is nothing to test, or false. */
export const withoutClickHouse = server === undefined ? String(started) : false

export type TestClickHouse = {
  /** A value for CLICKHOUSE_URL with a separate database that does not exist yet. */
  url: string
  /** Drops the database. */
  remove(): Promise<void>
}

export function testClickHouse(): TestClickHouse {
  if (server === undefined) throw new Error('TEST_CLICKHOUSE_URL is not set')
  const database = `depot_test_${randomBytes(8).toString('hex')}`
  return {
    url: new URL(database, server).href,
    async remove() {
      // The file's own engine deletes its data when it stops, possibly before this call.
      if (given === undefined) return
      const client = createClient({ url: server })
      await client.command({ query: `DROP DATABASE IF EXISTS ${database}` })
      await client.close()
    },
  }
}

const SCRIPT = join(import.meta.dirname, '../../../scripts/engines/clickhouse.sh')

/** Starts a separate server that a test can kill and restart, with its data in `folder`. */
export async function startClickHouse(folder: string): Promise<{ url: string; start(): Promise<void>; kill(): void }> {
  const port = await freePort()
  let pid = 0
  const start = async () => {
    const { stdout } = await run('bash', [SCRIPT, 'start', String(port), folder])
    pid = Number(/^CLICKHOUSE_PID=(\d+)$/m.exec(stdout)?.[1])
  }
  await start()
  return {
    url: `http://depot:depot-test@127.0.0.1:${port}/depot`,
    start,
    kill: () => void process.kill(pid, 'SIGKILL'),
  }
}
