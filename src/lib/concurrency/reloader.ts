// Loads data of a process again after a change.

/** Pause after a failed load. */
const RETRY_MS = 1_000

export type Reloader = {
  /** Loads the data as they are now. Rejects with the error of the load. */
  reload(): Promise<void>
  /** Begins a load, and repeats it while it fails. */
  reloadSoon(): void
}

/** `onFailure` is called for each failed load of `reloadSoon`. */
export function createReloader(load: () => Promise<void>, onFailure: (error: unknown) => void): Reloader {
  let loading: Promise<void> = Promise.resolve()
  // Loads run in sequence, so that an older result never replaces a newer one.
  const reload = (): Promise<void> => {
    loading = loading.then(load, load)
    return loading
  }
  const reloadSoon = (): void => {
    reload().catch((error: unknown) => {
      onFailure(error)
      setTimeout(reloadSoon, RETRY_MS).unref()
    })
  }
  return { reload, reloadSoon }
}
