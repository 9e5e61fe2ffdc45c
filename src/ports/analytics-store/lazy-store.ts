// A store that is opened when it is first used. Loading an embedded store takes most of a second, which neither the
// start of a server nor a test that never asks it should wait for.
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { type AnalyticsStore, StoreHeldError } from './analytics-store.ts'

export type LazyStoreOptions = {
  /** A failed opening is tried again by the next call. */
  open: () => Promise<AnalyticsStore>
  /** For commands that run beside a server: a store that the server holds passes `check`. */
  mayBeHeld?: boolean
}

export function openLazily({ open, mayBeHeld = false }: LazyStoreOptions): AnalyticsStore {
  let opened: Promise<AnalyticsStore> | undefined
  let isClosed = false

  function store(): Promise<AnalyticsStore> {
    if (isClosed) throw new ApiError('analytics_database_error', 'The analytics store is closed')
    opened ??= open().catch((cause: unknown) => {
      opened = undefined
      throw isPlain(cause) ? cause : unavailable(cause)
    })
    return opened
  }

  /** Runs one call; a store that cannot be opened is one that does not answer. */
  async function use<T>(call: (store: AnalyticsStore) => Promise<T>): Promise<T> {
    let ready: AnalyticsStore
    try {
      ready = await store()
    } catch (cause) {
      throw cause instanceof ApiError ? cause : unavailable(cause)
    }
    return call(ready)
  }

  return {
    append: (kind, batch) => use((ready) => ready.append(kind, batch)),
    query: (query, options) => use((ready) => ready.query(query, options)),
    countDownloads: (range) => use((ready) => ready.countDownloads(range)),
    readEvents: (kind, onLines) => use((ready) => ready.readEvents(kind, onLines)),
    forgetProjects: (ids) => use((ready) => ready.forgetProjects(ids)),
    identity: () => use((ready) => ready.identity()),
    settledAt: () => use((ready) => ready.settledAt()),
    listBatches: (range) => use((ready) => ready.listBatches(range)),
    readBatches: (ids) => use((ready) => ready.readBatches(ids)),

    async check() {
      try {
        await (await store()).check()
      } catch (error) {
        // The plain sentence of a store that another process holds says more than that it does not answer.
        if (!(mayBeHeld && error instanceof StoreHeldError)) throw error
      }
    },

    async close() {
      isClosed = true
      const ready = await opened?.catch(() => undefined)
      await ready?.close()
    },
  }
}

/** Whether it says more than that the store cannot be opened. */
function isPlain(cause: unknown): boolean {
  return cause instanceof StoreHeldError || cause instanceof ApiError || cause instanceof OperatorError
}

function unavailable(cause: unknown): ApiError {
  return new ApiError('analytics_database_error', 'The analytics store cannot be opened', { cause })
}
