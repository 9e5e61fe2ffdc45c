// The change feed as server-sent events (WHATWG HTML, 9.2).

import { Readable } from 'node:stream'
import { Gauge } from 'prom-client'
import { ApiError } from '#lib/errors.ts'
import { defineMetrics } from '#platform/telemetry/metrics.ts'
import type { Deps } from '#ports/deps.ts'
import { type Cursor, parseCursor } from './cursor.ts'
import { createFeedWatch, type FeedWatch } from './feed-watch.ts'
import { CHANGES_PATH, listChanges } from './list-changes.ts'
import type { ChangeKind } from './requests.ts'
import type { ChangeView } from './views.ts'

const openStreams = defineMetrics(
  (registers) => new Gauge({ name: 'depot_change_streams', help: 'Open streams of the change feed', registers }),
)

type StreamDeps = Pick<Deps, 'db' | 'log' | 'metrics'>

const STREAMS_MAX = { perCaller: 4, perProcess: 200 }
/** A comment after this time keeps proxies from closing a quiet connection. */
const QUIET_MS = 15_000
/** A client that accepts no data for this time is disconnected. */
const STALLED_MS = 10_000
/** Time after which browsers reconnect. */
const RETRY_MS = 5_000
const PAGE = 500

/** Counts and ends the streams of a process. */
export function createChangeStreams(deps: StreamDeps, isDraining: () => boolean) {
  const openByCaller = new Map<string, number>()
  let open = 0
  const ending = new AbortController()
  const watch = createFeedWatch(deps, () => {
    if (isDraining()) ending.abort()
  })

  function count(caller: string, difference: 1 | -1): void {
    open += difference
    openStreams(deps.metrics).set(open)
    const own = (openByCaller.get(caller) ?? 0) + difference
    if (own > 0) openByCaller.set(caller, own)
    else openByCaller.delete(caller)
  }

  return {
    /** Ends all streams: the server stops. */
    close: () => ending.abort(),

    /**
     * Opens a stream that continues after `since`; undefined: with the next change.
     * @throws ApiError `ratelimit_error` if the caller or the process has too many streams.
     */
    async open(caller: string, since: Cursor | undefined, kinds: readonly ChangeKind[]): Promise<Readable> {
      if ((openByCaller.get(caller) ?? 0) >= STREAMS_MAX.perCaller || open >= STREAMS_MAX.perProcess) {
        throw new ApiError('ratelimit_error', 'Too many streams are open. Close one or try again later.', {
          headers: { 'retry-after': '60' },
        })
      }
      count(caller, 1)
      const closing = new AbortController()
      const { stream, send } = createEventStream()
      stream.once('close', () => {
        closing.abort()
        count(caller, -1)
      })
      const signal = AbortSignal.any([closing.signal, ending.signal])
      try {
        const start = since ?? parseCursor((await listChanges(deps, { since, kinds, limit: 1 })).latest)
        void follow(deps, watch, { since: start, kinds, send, signal }).then(
          () => stream.push(null),
          (error: Error) => stream.destroy(error),
        )
        return stream
      } catch (error) {
        stream.destroy()
        throw error
      }
    },
  }
}

type Follower = {
  since: Cursor | undefined
  kinds: readonly ChangeKind[]
  send: (text: string) => Promise<void>
  signal: AbortSignal
}

/** Sends all changes after `since` until the signal. Ends with the event `expired` if the cursor cannot be continued. */
async function follow(deps: StreamDeps, watch: FeedWatch, { since, kinds, send, signal }: Follower): Promise<void> {
  let position = since
  await send(`retry: ${RETRY_MS}\n\n`)
  while (!signal.aborted) {
    const page = await listChanges(deps, { since: position, kinds, limit: PAGE }).catch(asExpired)
    if (typeof page === 'string') return send(page)
    for (const change of page.changes) await send(changeEvent(change))
    position = parseCursor(page.next)
    if (page.more) continue
    await watch.nextChange(page.next, signal, QUIET_MS)
    if (!signal.aborted) await send(': still here\n\n')
  }
}

function changeEvent({ cursor, ...change }: ChangeView): string {
  return `id: ${cursor}\nevent: change\ndata: ${JSON.stringify(change)}\n\n`
}

/** @throws the error, unless the cursor has expired. */
function asExpired(error: unknown): string {
  if (!(error instanceof ApiError) || error.kind !== 'cursor_expired') throw error
  const reason = error.details?.['reason']
  return `event: expired\ndata: ${JSON.stringify({ reason, start: CHANGES_PATH })}\n\n`
}

/** Returns a stream, and a function that waits until the client has accepted earlier data. */
export function createEventStream(): { stream: Readable; send: (text: string) => Promise<void> } {
  let accept = () => {}
  const stream = new Readable({ read: () => accept() })
  const send = (text: string): Promise<void> => {
    if (stream.destroyed || stream.push(text)) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(stalled)
        accept = () => {}
        stream.off('close', done)
        resolve()
      }
      const stalled = setTimeout(() => stream.destroy(), STALLED_MS)
      accept = done
      stream.once('close', done)
    })
  }
  return { stream, send }
}
