// The adapter for a ClickHouse server or cluster, version 24 or newer, that any number of processes write to at once.

import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { MINUTE_MS } from '#lib/time.ts'
import {
  type AnalyticsStore,
  checkBatch,
  checkDownloadRange,
  checkSources,
  PROJECT_KINDS,
  READ_BATCHES_MAX,
} from '../analytics-store.ts'
import { type ColumnType, type ColumnValue, columnsOf, type EventKind, type EventRow } from '../events.ts'
import type { MetricSlices } from '../points.ts'
import { countDownloads, isStored, listBatches, readBatches } from './batches.ts'
import { connectClickHouse, STATEMENT_SECONDS } from './connection.ts'
import { queryMetric } from './query.ts'
import { readEvents } from './read-events.ts'
import { prepareDatabase, TABLES } from './schema.ts'

export type ClickHouseOptions = {
  /** `http://user:password@host:8123/database` */
  url: string
  /** How long a batch may take from the server's clock to being visible. Default: longer than any insert may run. */
  settleMs?: number
}

const SETTLE_MS = (STATEMENT_SECONDS + 10) * 1000
/** The server recognises a repetition by itself as long as this; an older batch is looked up before it is stored. */
const RECOGNISED_MS = MINUTE_MS
/** Rows turned into text before requests are answered in between. */
const ROWS_AT_ONCE = 500

/**
 * Opens the store, making tables that are missing.
 * @throws OperatorError in one sentence when version, database, user or rights are wrong; ApiError
 * `analytics_unavailable` when the server does not answer.
 */
export async function openClickHouseStore({ url, settleMs = SETTLE_MS }: ClickHouseOptions): Promise<AnalyticsStore> {
  const connection = connectClickHouse(url)
  let closed: Promise<void> | undefined
  try {
    await prepareDatabase(connection, url)
  } catch (error) {
    await connection.close()
    throw error
  }

  return {
    async append(kind, batch) {
      checkBatch(batch)
      const { id, madeAt } = batch
      if (madeAt < Date.now() - RECOGNISED_MS && (await isStored(connection, { id, madeAt }))) return
      const events = batch.events as readonly EventRow[]
      await connection.insert({
        table: TABLES[kind],
        columns: [...columnsOf(kind).map(([name]) => name), 'batch_id'],
        lines: Readable.from(linesOf(kind, { id, events }), { objectMode: false }),
        token: id,
      })
    },

    async query({ grid, metrics }, options = {}) {
      for (const { sources } of metrics) checkSources(sources)
      const parts: MetricSlices[] = []
      for (const request of metrics) parts.push(await queryMetric(connection, grid, request, options))
      return parts
    },

    async countDownloads(range) {
      checkDownloadRange(range)
      return countDownloads(connection, range)
    },

    async settledAt() {
      const [[now] = []] = await connection.all({ sql: 'SELECT toUnixTimestamp64Milli(now64(3))' })
      return Number(now) - settleMs
    },

    listBatches: (range) => listBatches(connection, range),

    async readBatches(ids) {
      if (ids.length > READ_BATCHES_MAX) throw new RangeError(`At most ${READ_BATCHES_MAX} batches are read at once`)
      return readBatches(connection, ids)
    },

    readEvents: (kind, onLines) => readEvents(connection, kind, onLines),

    async forgetProjects(ids) {
      checkSources(ids)
      for (const kind of PROJECT_KINDS) {
        await connection.run({
          sql: `DELETE FROM ${TABLES[kind]} WHERE project_id IN {ids:Array(String)}`,
          params: { ids },
          settings: { max_execution_time: 0 },
        })
      }
    },

    async identity() {
      // Made with the table; one that is made from a backup has another.
      const sql = `SELECT replaceAll(toString(uuid), '-', '') FROM system.tables
        WHERE database = currentDatabase() AND name = '${TABLES.download}'`
      const [[id] = []] = await connection.all({ sql })
      return String(id)
    },

    async check() {
      await connection.all({ sql: 'SELECT 1' })
    },

    close() {
      closed ??= connection.close()
      return closed
    },
  }
}

async function* linesOf(
  kind: EventKind,
  { id, events }: { id: string; events: readonly EventRow[] },
): AsyncGenerator<string> {
  const columns = columnsOf(kind)
  for (let from = 0; from < events.length; from += ROWS_AT_ONCE) {
    const lines = events
      .slice(from, from + ROWS_AT_ONCE)
      .map((event) => JSON.stringify([...columns.map(([name, type]) => stored(event[name], type)), id]))
    yield `${lines.join('\n')}\n`
    await setImmediate()
  }
}

function stored(value: ColumnValue | undefined, type: ColumnType): ColumnValue {
  if (value === undefined) throw new Error('An event lacks a column')
  // Seconds with three decimals, which ClickHouse reads exactly.
  if (type === 'time') return (Number(value) / 1000).toFixed(3)
  return value
}
