// The cache of images of other hosts. A viewer gets the stored copy, also while Depot fetches a newer one.

import { Counter } from 'prom-client'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { createLimiter, type Limiter } from '#lib/concurrency/limiter.ts'
import { withinTime } from '#lib/concurrency/within-time.ts'
import { ApiError } from '#lib/errors.ts'
import { HOUR_MS } from '#lib/time.ts'
import { instanceSecret } from '#platform/db/instance-secret.ts'
import { defineMetrics } from '#platform/telemetry/metrics.ts'
import type { Deps } from '#ports/deps.ts'
import { fetchImage } from './fetch-image.ts'
import { findExternalImage, type ImageRow, imageIdOf, touchExternalImage } from './queries.ts'
import { storeImage } from './store-image.ts'

/** Maximum time that a request waits for a source. */
const WAIT_MS = 3_000
/** Maximum number of fetches at a time: in all, and per host. */
const FETCHES_MAX = 8
const FETCHES_PER_HOST_MAX = 2
const WAITING_MAX = 500
const WAITING_PER_HOST_MAX = 100
/** Smallest interval in which the use of an image is written. */
const TOUCH_MS = HOUR_MS

const fetchesOf = defineMetrics(
  (registers) =>
    new Counter({
      name: 'depot_external_image_fetches_total',
      help: 'Fetches of images of other hosts, by outcome (image, unchanged, absent, failed, error)',
      labelNames: ['outcome'] as const,
      registers,
    }),
)

export type ExternalImagesDeps = Pick<Deps, 'db' | 'cache' | 'files' | 'images' | 'log' | 'now' | 'config' | 'metrics'>

/** `waiting`: the source has not responded yet. `absent`: there is no image, or it is blocked. */
export type ShownImage = { state: 'stored'; row: StoredRow } | { state: 'waiting' } | { state: 'absent' }
export type StoredRow = ImageRow & { storage_key: string; content_type: string }

export type ExternalImages = {
  /** The key of signatures. The promise is created once. */
  key(): Promise<Uint8Array>
  /**
   * Returns the image of a URL. Requests that need the same image share one fetch, and a request waits at most 3 seconds.
   * In read-only mode, only stored images are shown.
   */
  read(url: string): Promise<ShownImage>
  /** Fetches the image again, because its file is missing in the store. */
  renew(url: string): Promise<ShownImage>
  /** Ends all fetches. */
  close(): Promise<void>
}

export function createExternalImages(deps: ExternalImagesDeps): ExternalImages {
  const fetches = createFetches(deps)
  let key: Promise<Uint8Array> | undefined
  const wait = async (url: string, row: ImageRow | undefined): Promise<ShownImage> => {
    if ((await getSettings(deps)).read_only) return { state: 'waiting' }
    try {
      await withinTime(fetches.start(url, row), WAIT_MS, () => new Late())
    } catch (error) {
      if (error instanceof Late) return { state: 'waiting' }
      throw error
    }
    const found = await findExternalImage(deps.db, imageIdOf(url))
    return found.isBlocked ? { state: 'absent' } : stored(found.row)
  }
  return {
    key: () => {
      key ??= instanceSecret(deps.db, 'external-images')
      return key
    },
    read: async (url) => {
      const id = imageIdOf(url)
      const { row, isBlocked } = await findExternalImage(deps.db, id)
      if (isBlocked) return { state: 'absent' }
      const now = deps.now()
      const isFresh = row !== undefined && row.fresh_until.getTime() > now
      if (!hasFile(row)) return isFresh ? { state: 'absent' } : wait(url, row)
      const { read_only: isReadOnly } = await getSettings(deps)
      if (!isReadOnly && !isFresh) void fetches.start(url, row)
      if (!isReadOnly && now - row.last_used.getTime() > TOUCH_MS)
        await touchExternalImage(deps.db, { id, now: new Date(now) })
      return { state: 'stored', row }
    },
    // Without the row, so that the source sends the image also if it has not changed.
    renew: (url) => wait(url, undefined),
    close: () => fetches.close(),
  }
}

class Late extends Error {}

const hasFile = (row: ImageRow | undefined): row is StoredRow =>
  row !== undefined && row.storage_key !== null && row.content_type !== null

const stored = (row: ImageRow | undefined): ShownImage =>
  hasFile(row) ? { state: 'stored', row } : { state: 'absent' }

/** Runs at most one fetch per URL, and a limited number in all and per host. */
function createFetches(deps: ExternalImagesDeps) {
  const { config, images, log, metrics } = deps
  const running = new Map<string, Promise<void>>()
  const all = createLimiter({ running: FETCHES_MAX, waiting: WAITING_MAX, waitingPerCaller: WAITING_PER_HOST_MAX })
  const hosts = new Map<string, { limiter: Limiter; uses: number }>()
  const closing = new AbortController()

  async function onHost<T>(host: string, work: () => Promise<T>): Promise<T> {
    const entry = hosts.get(host) ?? {
      limiter: createLimiter({ running: FETCHES_PER_HOST_MAX, waiting: WAITING_PER_HOST_MAX }),
      uses: 0,
    }
    hosts.set(host, entry)
    entry.uses += 1
    try {
      return await entry.limiter.run(work)
    } finally {
      entry.uses -= 1
      if (entry.uses === 0) hosts.delete(host)
    }
  }

  async function run(url: string, row: ImageRow | undefined): Promise<void> {
    const { host } = new URL(url)
    const source = { url, etag: hasFile(row) ? row.source_etag : null, signal: closing.signal }
    try {
      const fetched = await onHost(host, () =>
        all.run(() => fetchImage({ outgoing: config.outgoing, images }, source), host),
      )
      fetchesOf(metrics).inc({ outcome: fetched.outcome })
      await storeImage(deps, url, fetched)
    } catch (error) {
      if (closing.signal.aborted) return
      fetchesOf(metrics).inc({ outcome: 'error' })
      // The machine is busy: the next viewer starts the fetch again.
      if (error instanceof ApiError && error.status === 503) return
      log.warn({ err: error, host }, 'Could not store an image of another host')
    }
  }

  return {
    /** Starts a fetch, or joins the running one. Resolves when its result is stored, and never rejects. */
    start(url: string, row: ImageRow | undefined): Promise<void> {
      const joined = running.get(url)
      if (joined !== undefined) return joined
      const started = run(url, row).finally(() => running.delete(url))
      running.set(url, started)
      return started
    },
    async close(): Promise<void> {
      closing.abort(new Error('The server stops'))
      await Promise.all(running.values())
    },
  }
}
