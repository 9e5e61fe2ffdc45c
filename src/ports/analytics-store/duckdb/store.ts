// The embedded adapter: a DuckDB file in the data folder with one writer and a few readers. DuckDB works in its own
// threads.
import { ApiError } from '#lib/errors.ts'
import {
  type AnalyticsStore,
  checkBatch,
  checkDownloadRange,
  checkSources,
  READ_BATCHES_MAX,
} from '../analytics-store.ts'
import type { EventRow } from '../events.ts'
import { countDownloads, listBatches, queryMetrics, readBatches, readEvents } from './query.ts'
import { openReaders } from './readers.ts'
import { findIdentity, openDatabase } from './schema.ts'
import { openWriter } from './writer.ts'

/**
 * Opens the store in `dir`, which only one process can open. Recovers automatically after a crash.
 * @throws StoreInUseError if another process has opened the file; OperatorError if it cannot be opened
 */
export async function openDuckDbStore({ dir }: { dir: string }): Promise<AnalyticsStore> {
  const instance = await openDatabase(dir)
  const writer = await openWriter(instance)
  const readers = await openReaders(instance)
  let closed: Promise<void> | undefined

  async function closeAll(): Promise<void> {
    await Promise.all([readers.close(), writer.close()])
    // Writes the log to the file.
    instance.closeSync()
  }

  return {
    async append(kind, batch) {
      checkBatch(batch)
      await guarded(writer.append(kind, { ...batch, events: batch.events as readonly EventRow[] }))
    },

    async appendLines(kind, batch) {
      checkBatch({ id: batch.id, events: batch.lines })
      await guarded(writer.appendLines(kind, batch))
    },

    async query({ grid, metrics }, { signal, caller } = {}) {
      for (const { sources } of metrics) checkSources(sources)
      return guarded(readers.use(signal, (connection) => queryMetrics(connection, grid, metrics), caller))
    },

    async countDownloads(range) {
      checkDownloadRange(range)
      return guarded(readers.use(undefined, (connection) => countDownloads(connection, range)))
    },

    settledAt: () => guarded(writer.settledAt()),

    listBatches: (range) => guarded(readers.use(undefined, (connection) => listBatches(connection, range))),

    async readBatches(ids) {
      if (ids.length > READ_BATCHES_MAX) throw new RangeError(`At most ${READ_BATCHES_MAX} batches per call`)
      return guarded(readers.use(undefined, (connection) => readBatches(connection, ids)))
    },

    async readEvents(kind, onLines) {
      const connection = await instance.connect()
      try {
        await readEvents(connection, kind, onLines)
      } finally {
        connection.closeSync()
      }
    },

    async forgetProjects(ids) {
      checkSources(ids)
      await guarded(writer.forgetProjects(ids))
    },

    identity: () => guarded(readers.use(undefined, findIdentity)),

    check: () => guarded(readers.use(undefined, async (connection) => void (await connection.run('SELECT 1')))),

    close() {
      closed ??= closeAll()
      return closed
    },
  }
}

/** Converts errors of DuckDB to `analytics_database_error` with the cause. */
async function guarded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ApiError('analytics_database_error', 'The analytics store did not respond', { cause })
  }
}
