// Opens a store with its first use, because loading the embedded store takes most of a second. The start of a server and
// tests that do not use it need not wait.
import { ApiError, reasonOf } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { type AnalyticsStore, isDamagedStore, StoreInUseError } from './analytics-store.ts'

export type LazyStoreOptions = {
  /** The next call repeats a failed opening. */
  open: () => Promise<AnalyticsStore>
  /** For commands that run while the server runs: `check` accepts a store that the server has opened. */
  mayBeInUse?: boolean
  /** Called for each call that finds a damaged file. */
  onDamage?: (error: unknown) => void
}

export function openLazily({ open, mayBeInUse = false, onDamage = () => {} }: LazyStoreOptions): AnalyticsStore {
  let opened: Promise<AnalyticsStore> | undefined
  let isClosed = false
  let damage: unknown

  async function store(): Promise<AnalyticsStore> {
    if (isClosed) throw new ApiError('analytics_database_error', 'The analytics store is closed')
    opened ??= open().catch((cause: unknown) => {
      opened = undefined
      throw isSpecific(cause) ? cause : unavailable(cause)
    })
    return opened
  }

  /** Runs a call. @throws ApiError also if the store cannot be opened */
  async function use<T>(call: (store: AnalyticsStore) => Promise<T>): Promise<T> {
    try {
      const ready = await store().catch((cause: unknown) => {
        throw cause instanceof ApiError ? cause : unavailable(cause)
      })
      return await call(ready)
    } catch (error) {
      noteDamage(error)
      throw error
    }
  }

  function noteDamage(error: unknown): void {
    if (!isDamagedStore(error)) return
    damage = error
    onDamage(error)
  }

  return {
    append: (kind, batch) => use((ready) => ready.append(kind, batch)),
    appendLines: (kind, batch) => use((ready) => ready.appendLines(kind, batch)),
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
        noteDamage(error)
        if (!(mayBeInUse && error instanceof StoreInUseError)) throw error
      }
      // A damaged block does not keep the store from opening.
      if (damage !== undefined) throw new OperatorError(`The analytics file is damaged: ${reasonOf(deepest(damage))}`)
    },

    async close() {
      isClosed = true
      const ready = await opened?.catch(() => undefined)
      await ready?.close()
    },
  }
}

/** Returns the last cause of an error. */
function deepest(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? deepest(error.cause) : error
}

/** Whether the error says more than that the store cannot be opened. */
function isSpecific(cause: unknown): boolean {
  return cause instanceof StoreInUseError || cause instanceof ApiError || cause instanceof OperatorError
}

function unavailable(cause: unknown): ApiError {
  return new ApiError('analytics_database_error', 'The analytics store cannot be opened', { cause })
}
