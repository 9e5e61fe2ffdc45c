// Calls between two processes over one connection, both ways: many at once, gathered into few writes, each with a time
// limit, all of them bounded in number and bytes.
import type { Duplex } from 'node:stream'
import { overloaded } from '#lib/concurrency/limiter.ts'
import { ApiError } from '#lib/errors.ts'
import { describeError, reviveError, type SentError } from './errors.ts'
import { createFrameReader, encodeFrame } from './frames.ts'

/** The signal says that the caller has given up or is gone; `peer` calls the caller back. */
type Context = { signal: AbortSignal; peer: Channel }
type Handler = (args: readonly unknown[], context: Context) => unknown

/** What one side lets the other call, by name. Arguments and answers are what `structuredClone` takes. */
export type Handlers = Readonly<Record<string, Handler>>

export type CallOptions = {
  /** Default 30 s; Infinity for what has limits of its own. */
  timeoutMs?: number
  /** Gives the call up on both sides. */
  signal?: AbortSignal
}

export type Channel = {
  /**
   * Calls a handler of the other side.
   * @throws what it throws; ApiError 503 when it does not answer in time, when too much waits, or when it is gone.
   */
  call(name: string, args: readonly unknown[], options?: CallOptions): Promise<unknown>
  /** Adds handlers to those it was opened with; the function that it returns takes them out again. */
  offer(handlers: Handlers): () => void
  /** Settles when the connection is over, whoever ended it. */
  closed: Promise<void>
  /** Ends the connection; calls that wait are refused. */
  close(): void
}

const TIMEOUT_MS = 30_000
/** Calls that wait for an answer. */
const CALLS_MAX = 20_000
/** Bytes that wait to be sent. */
const QUEUED_BYTES_MAX = 128 * 1024 * 1024
/** How often time limits are looked at: each call would otherwise need a timer. */
const LOOK_MS = 250
/** Messages of one frame; many small ones share its price. */
const FRAME_MESSAGES_MAX = 256

type Message =
  | readonly ['call', number, string, readonly unknown[]]
  | readonly ['abort', number]
  | readonly ['answer', number, unknown]
  | readonly ['error', number, SentError]

type Waiting = { resolve: (value: unknown) => void; reject: (error: Error) => void; name: string; until: number }

/** A channel over a connected stream. */
export function openChannel(stream: Duplex, handlers: Handlers = {}): Channel {
  const known = new Map(Object.entries(handlers))
  const waiting = new Map<number, Waiting>()
  const running = new Map<number, AbortController>()
  const closed = Promise.withResolvers<void>()
  const read = createFrameReader()
  let outgoing: Message[] = []
  let lastId = 0
  let isOpen = true

  function send(message: Message): void {
    if (!isOpen) return
    // Written once all that this turn of the event loop causes is known.
    if (outgoing.push(message) === 1) setImmediate(flush)
  }

  function flush(): void {
    const messages = outgoing
    outgoing = []
    for (let from = 0; from < messages.length && isOpen; from += FRAME_MESSAGES_MAX) {
      const part = messages.slice(from, from + FRAME_MESSAGES_MAX)
      try {
        stream.write(encodeFrame(part))
      } catch {
        for (const message of part) sendAlone(message)
      }
    }
  }

  /** Of several messages one cannot be sent; the others are. */
  function sendAlone(message: Message): void {
    try {
      stream.write(encodeFrame([message]))
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error))
      if (message[0] === 'call') settle(message[1], ({ reject }) => reject(reason))
      else stream.write(encodeFrame([['error', message[1], describeError(reason)]]))
    }
  }

  function settle(id: number, act: (call: Waiting) => void): void {
    const call = waiting.get(id)
    if (call === undefined) return
    waiting.delete(id)
    if (waiting.size === 0) clearInterval(look)
    act(call)
  }

  let look: NodeJS.Timeout | undefined
  function lookForLate(): void {
    const now = performance.now()
    for (const [id, { until, name }] of waiting) {
      if (until > now) continue
      send(['abort', id])
      settle(id, ({ reject }) => reject(unanswered(`${name} was not answered in time`)))
    }
  }

  const peer: Channel = {
    call,
    offer: (more) => {
      for (const [name, handler] of Object.entries(more)) known.set(name, handler)
      return () => {
        for (const name of Object.keys(more)) known.delete(name)
      }
    },
    closed: closed.promise,
    close: () => {
      flush()
      end()
    },
  }

  function call(name: string, args: readonly unknown[], { timeoutMs = TIMEOUT_MS, signal }: CallOptions = {}) {
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (!isOpen) return Promise.reject(unanswered('The process that holds this is gone'))
    if (waiting.size >= CALLS_MAX || stream.writableLength > QUEUED_BYTES_MAX) return Promise.reject(overloaded())
    const id = ++lastId
    const answer = new Promise<unknown>((resolve, reject) => {
      if (waiting.size === 0) look = setInterval(lookForLate, LOOK_MS).unref()
      waiting.set(id, { resolve, reject, name, until: performance.now() + timeoutMs })
    })
    send(['call', id, name, args])
    if (signal === undefined) return answer
    const give = (): void => {
      send(['abort', id])
      settle(id, ({ reject }) => reject(signal.reason))
    }
    signal.addEventListener('abort', give, { once: true })
    return answer.finally(() => signal.removeEventListener('abort', give))
  }

  function take(message: Message): void {
    const [kind, id] = message
    if (kind === 'call') void answer(id, message[2], message[3])
    else if (kind === 'abort') running.get(id)?.abort(new Error('The caller has given up'))
    else if (kind === 'answer') settle(id, ({ resolve }) => resolve(message[2]))
    else settle(id, ({ reject }) => reject(reviveError(message[2])))
  }

  function answer(id: number, name: string, args: readonly unknown[]): void {
    const handler = known.get(name)
    if (handler === undefined) return send(['error', id, describeError(new Error(`There is no ${name} here`))])
    const controller = new AbortController()
    try {
      const value = handler(args as readonly unknown[], { signal: controller.signal, peer })
      // What is known at once needs no promise: the limiter's calls are many.
      if (!(value instanceof Promise)) return send(['answer', id, value])
      running.set(id, controller)
      value
        .then(
          (result: unknown) => send(['answer', id, result]),
          (error: unknown) => send(['error', id, describeError(error)]),
        )
        .finally(() => running.delete(id))
    } catch (error) {
      send(['error', id, describeError(error)])
    }
  }

  function end(): void {
    if (!isOpen) return
    isOpen = false
    clearInterval(look)
    stream.destroy()
    for (const { reject } of waiting.values()) reject(unanswered('The process that holds this is gone'))
    waiting.clear()
    for (const controller of running.values()) controller.abort(new Error('The caller is gone'))
    closed.resolve()
  }

  stream.on('data', (piece: Buffer) => {
    try {
      for (const message of read(piece)) take(message as Message)
    } catch {
      // Nothing that comes after can be understood.
      end()
    }
  })
  stream.on('close', end).on('end', end).on('error', end)
  return peer
}

function unanswered(description: string): ApiError {
  return new ApiError('service_unavailable', description, { headers: { 'retry-after': '1' } })
}
