// Follows the change feed: the list until it has nothing more, then the stream. When the stream ends or is not available,
// the list again.
import type { Transport } from './client.ts'
import { DepotError, errorOf } from './errors.ts'
import type { Call, Data } from './operations.ts'
import { asError, isFinal, messageOf, sleep } from './retry.ts'

/** An object that became public, changed or was removed. `cursor` continues after it. */
export type Change = Data<'/v3/changes', 'get'>['changes'][number]

export type ChangesOptions = {
  /** Cursor of the last change that you have. Default: the whole public catalogue first */
  since?: string
  kinds?: readonly Change['kind'][]
  /** Whether to wait for new changes. Default: true */
  follow?: boolean
  /**
   * Called when the cursor has expired, with the reason: delete your copy, the changes begin at the start again. Default: the
   * error is thrown
   */
  onExpired?: (reason: string) => void | Promise<void>
  /** Pause between two requests while the stream is not available. Default: 30 */
  pollSeconds?: number
  signal?: AbortSignal
}

const PAGE = 1000
const POLL_SECONDS = 30
/** The server sends a comment every 15 seconds. */
const SILENCE_MS = 45_000

type Feed = { get: Call<'get'>; transport: Transport }

export async function* followChanges(feed: Feed, options: ChangesOptions = {}): AsyncGenerator<Change, void> {
  const { follow = true, onExpired, pollSeconds = POLL_SECONDS, signal } = options
  let { since } = options
  let hasWorked = false
  for (;;) {
    let pause = 0
    try {
      for await (const change of listChanges(feed, since, options)) {
        since = change.cursor
        if (change.entry !== undefined) yield change.entry
      }
      if (!follow) return
      hasWorked = true
      for await (const change of streamChanges(feed.transport, since, options)) {
        since = change.cursor
        yield change
      }
    } catch (error) {
      signal?.throwIfAborted()
      const failure = asError(error)
      if (failure instanceof DepotError && failure.status === 410 && onExpired !== undefined) {
        since = undefined
        await onExpired(String(failure.details['reason']))
        continue
      }
      if (!hasWorked || !isPassing(failure)) throw error
      pause = pollSeconds
      feed.transport.retry.onRetry?.({ attempt: 1, seconds: pause, reason: messageOf(failure) })
    }
    // A server that stops ends its streams; another one continues.
    await sleep(Math.max(pause, 1) * 1000, signal)
  }
}

/** Without `signal`, `undefined` would be a property of the request. */
const withSignal = ({ signal }: ChangesOptions): { signal?: AbortSignal } => (signal === undefined ? {} : { signal })

/** Yields the changes of all pages, and at the end of each page its cursor, which can be newer than its last change. */
async function* listChanges(
  { get }: Feed,
  start: string | undefined,
  options: ChangesOptions,
): AsyncGenerator<{ cursor: string; entry?: Change }> {
  let since = start
  for (;;) {
    const query = { limit: PAGE, ...(since === undefined ? {} : { since }), kinds: options.kinds ?? [] }
    const page = await get('/v3/changes', { params: { query }, ...withSignal(options) })
    for (const entry of page.changes) yield { cursor: entry.cursor, entry }
    since = page.next
    yield { cursor: since }
    if (!page.more) return
  }
}

async function* streamChanges(
  { baseUrl, open }: Transport,
  since: string | undefined,
  { kinds = [], signal }: ChangesOptions,
): AsyncGenerator<Change> {
  const query = new URLSearchParams({ kinds: JSON.stringify(kinds), ...(since === undefined ? {} : { since }) })
  const closing = new AbortController()
  const silence = () => closing.abort(new TypeError('The stream is silent', { cause: new Error('no data') }))
  let timer = setTimeout(silence, SILENCE_MS)
  try {
    const response = await open(`${baseUrl}/v3/changes/stream?${query}`, {
      headers: { accept: 'text/event-stream' },
      signal: AbortSignal.any(signal === undefined ? [closing.signal] : [signal, closing.signal]),
    })
    if (!response.ok || response.body === null) throw await errorOf(response)
    for await (const { event, data } of readEvents(response.body)) {
      clearTimeout(timer)
      timer = setTimeout(silence, SILENCE_MS)
      if (event === 'change') yield JSON.parse(data) as Change
      if (event === 'expired') throw expired(data)
    }
  } finally {
    clearTimeout(timer)
    closing.abort()
  }
}

/** Yields the events and, without a name, the comments. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: string }> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let text = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    text += value
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => [line.split(':')[0], line.replace(/^[^:]*: ?/, '')]))
      yield { event: fields.get('event') ?? '', data: fields.get('data') ?? '' }
    }
  }
}

/** The error that the list would return for the cursor. */
function expired(data: string): DepotError {
  const body = { error: 'cursor_expired', description: 'The cursor has expired', details: JSON.parse(data) }
  return new DepotError(new Response(null, { status: 410 }), body)
}

const isPassing = (error: Error): boolean =>
  error instanceof DepotError ? error.status === 429 || error.status >= 500 : !isFinal(error)
