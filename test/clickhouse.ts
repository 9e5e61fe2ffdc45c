// The ClickHouse server that TEST_CLICKHOUSE_URL names (`scripts/engines/clickhouse.sh` starts one), with a database for
// each test file. Where the variable is unset, tests that need a server are left out.
import { randomBytes } from 'node:crypto'
import { createClient } from '@clickhouse/client'

const server = process.env['TEST_CLICKHOUSE_URL']

/** For `describe` and `test`: why there is nothing to test, or false. */
export const withoutClickHouse = server === undefined ? 'TEST_CLICKHOUSE_URL is not set' : false

export type TestClickHouse = {
  /** As CLICKHOUSE_URL, with a database of its own that does not exist yet. */
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
      const client = createClient({ url: server })
      await client.command({ query: `DROP DATABASE IF EXISTS ${database}` })
      await client.close()
    },
  }
}
