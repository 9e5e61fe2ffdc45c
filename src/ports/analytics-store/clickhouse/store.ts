// The adapter for a ClickHouse server or cluster of version 24 or later, to which any number of processes can write.

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
import { type ColumnType, type ColumnValue, columnsOf, type EventKind, type EventRow, TABLES } from '../events.ts'
import { eventsOf } from '../lines.ts'
import type { MetricSlices } from '../points.ts'
import { countDownloads, isStored, listBatches, readBatches } from './batches.ts'
import { connectClickHouse, STATEMENT_SECONDS } from './connection.ts'
import { queryMetric, readEvents } from './query.ts'
import { prepareDatabase } from './schema.ts'

export type ClickHouseOptions = {
  /** `http://user:password@host:8123/database` */
  url: string
  /** Maximum time from `stored_at` of a batch until it is visible. Default: longer than the time limit of an insert. */
  settleMs?: number
}

const SETTLE_MS = (STATEMENT_SECONDS + 10) * 1000
/** The server ignores a repeated batch for at least this time. For older batches, `isStored` is checked first. */
const DEDUPLICATED_MS = MINUTE_MS
/** Number of rows serialised before the event loop can serve requests. */
const ROWS_PER_TURN = 500

/**
 * Opens the store and creates missing tables.
 * @throws OperatorError for a wrong version, database, user or permission; ApiError `analytics_unavailable` if the server
 * does not respond.
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

  const append: AnalyticsStore['append'] = async (kind, batch) => {
    checkBatch(batch)
    const { id, madeAt } = batch
    if (madeAt < Date.now() - DEDUPLICATED_MS && (await isStored(connection, { id, madeAt }))) return
    const events = batch.events as readonly EventRow[]
    await connection.insert({
      table: TABLES[kind],
      columns: [...columnsOf(kind).map(([name]) => name), 'batch_id'],
      lines: Readable.from(linesOf(kind, { id, events }), { objectMode: false }),
      token: id,
    })
  }

  return {
    append,

    appendLines: (kind, batch) => append(kind, { ...batch, events: eventsOf(kind, batch) }),

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
      if (ids.length > READ_BATCHES_MAX) throw new RangeError(`At most ${READ_BATCHES_MAX} batches per call`)
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
      // A table that was restored from a backup has another UUID.
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
  for (let from = 0; from < events.length; from += ROWS_PER_TURN) {
    const lines = events
      .slice(from, from + ROWS_PER_TURN)
      .map((event) => JSON.stringify([...columns.map(([name, type]) => stored(event[name], type)), id]))
    yield `${lines.join('\n')}\n`
    await setImmediate()
  }
}

function stored(value: ColumnValue | undefined, type: ColumnType): ColumnValue {
  if (value === undefined) throw new Error('A column of an event is missing')
  // ClickHouse parses seconds with three decimals exactly.
  if (type === 'time') return (Number(value) / 1000).toFixed(3)
  return value
}
