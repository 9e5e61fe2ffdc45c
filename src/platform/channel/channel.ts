// Calls between two processes over one connection, in both directions. Many calls share a write; the number of open calls
// and of queued bytes is bounded, and each call has a time limit.
import type { Duplex } from 'node:stream'
import { overloaded } from '#lib/concurrency/limiter.ts'
import { ApiError } from '#lib/errors.ts'
import { describeError, reviveError, type SentError } from './errors.ts'
import { createFrameReader, encodeFrame } from './frames.ts'

/**
 * Version of the frames and of the calls between the processes of a server. Increase it with every change that a main
 * process of the release before cannot serve: files can be replaced while it runs, and it then starts newer processes.
 */
export const CHANNEL_FORMAT = 1

/** The signal aborts when the caller gives up or disconnects; `peer` calls the caller back. */
type Context = { signal: AbortSignal; peer: Channel }
type Handler = (args: readonly unknown[], context: Context) => unknown

/** The functions that one side offers the other, by name. Arguments and results must suit `structuredClone`. */
export type Handlers = Readonly<Record<string, Handler>>

export type CallOptions = {
  /** Default: 30 seconds. Infinity for calls that have their own limits. */
  timeoutMs?: number
  /** Aborts the call on both sides. */
  signal?: AbortSignal
}

const TIMEOUT_MS = 30_000
const OPEN_CALLS_MAX = 20_000
const QUEUED_BYTES_MAX = 128 * 1024 * 1024
/** Pause between checks for calls past their time limit; a timer per call would cost more. */
const CHECK_MS = 250
/** Maximum number of messages in a frame. */
const FRAME_MESSAGES_MAX = 256

type Message =
  | readonly ['call', number, string, readonly unknown[]]
  | readonly ['abort', number]
  | readonly ['result', number, unknown]
  | readonly ['error', number, SentError]

type OpenCall = { resolve: (value: unknown) => void; reject: (error: Error) => void; name: string; until: number }

export class Channel {
  /** Settles when the connection is closed by either side. */
  readonly closed: Promise<void>
  readonly #stream: Duplex
  readonly #handlers: Map<string, Handler>
  /** The calls of this side, and those of the other side that are in progress. */
  readonly #calls = new Map<number, OpenCall>()
  readonly #running = new Map<number, AbortController>()
  #outgoing: Message[] = []
  #lastId = 0
  #isOpen = true
  #check: NodeJS.Timeout | undefined

  /** Opens a channel over a connected stream. */
  constructor(stream: Duplex, handlers: Handlers = {}) {
    this.#stream = stream
    this.#handlers = new Map(Object.entries(handlers))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.closed = promise
    const end = (): void => {
      this.#end()
      resolve()
    }
    const read = createFrameReader()
    stream.on('data', (piece: Buffer) => {
      try {
        for (const message of read(piece)) this.#receive(message as Message)
      } catch {
        // Without a frame boundary, the rest of the stream cannot be decoded.
        end()
      }
    })
    stream.on('close', end).on('end', end).on('error', end)
  }

  /**
   * Calls a handler of the other side.
   * @throws what the handler throws; ApiError 503 if it does not respond in time, if too many calls are open, or if the
   * connection is closed.
   */
  call(name: string, args: readonly unknown[], { timeoutMs = TIMEOUT_MS, signal }: CallOptions = {}): Promise<unknown> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (!this.#isOpen) return Promise.reject(disconnected())
    if (this.#calls.size >= OPEN_CALLS_MAX || this.#stream.writableLength > QUEUED_BYTES_MAX)
      return Promise.reject(overloaded())
    const id = ++this.#lastId
    const result = new Promise<unknown>((resolve, reject) => {
      if (this.#calls.size === 0) this.#check = setInterval(() => this.#rejectLate(), CHECK_MS).unref()
      this.#calls.set(id, { resolve, reject, name, until: performance.now() + timeoutMs })
    })
    this.#send(['call', id, name, args])
    if (signal === undefined) return result
    const abort = (): void => this.#abort(id, signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    return result.finally(() => signal.removeEventListener('abort', abort))
  }

  /** Adds handlers. The returned function removes them. */
  offer(handlers: Handlers): () => void {
    for (const [name, handler] of Object.entries(handlers)) this.#handlers.set(name, handler)
    return () => {
      for (const name of Object.keys(handlers)) this.#handlers.delete(name)
    }
  }

  /** Sends what is queued, closes the connection and rejects open calls. */
  close(): void {
    this.#flush()
    this.#end()
  }

  #end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearInterval(this.#check)
    this.#stream.destroy()
    for (const { reject } of this.#calls.values()) reject(disconnected())
    this.#calls.clear()
    for (const controller of this.#running.values()) controller.abort(new Error('The caller is disconnected'))
  }

  /** The messages of one turn of the event loop share their frames. */
  #send(message: Message): void {
    if (this.#isOpen && this.#outgoing.push(message) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const messages = this.#outgoing
    this.#outgoing = []
    for (let from = 0; from < messages.length && this.#isOpen; from += FRAME_MESSAGES_MAX) {
      const part = messages.slice(from, from + FRAME_MESSAGES_MAX)
      try {
        this.#stream.write(encodeFrame(part))
      } catch {
        // A message that cannot be sent must not fail the others of its frame.
        for (const message of part) this.#sendAlone(message)
      }
    }
  }

  #sendAlone(message: Message): void {
    try {
      this.#stream.write(encodeFrame([message]))
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error))
      if (message[0] === 'call') this.#settle(message[1])?.reject(reason)
      else this.#stream.write(encodeFrame([['error', message[1], describeError(reason)]]))
    }
  }

  #receive([kind, id, value, args]: Message): void {
    if (kind === 'call') this.#run(id, value, args)
    else if (kind === 'abort') this.#running.get(id)?.abort(new Error('The caller has given up'))
    else if (kind === 'result') this.#settle(id)?.resolve(value)
    else this.#settle(id)?.reject(reviveError(value))
  }

  #run(id: number, name: string, args: readonly unknown[]): void {
    const fail = (error: unknown): void => this.#send(['error', id, describeError(error)])
    const handler = this.#handlers.get(name)
    if (handler === undefined) return fail(new Error(`The other process does not offer ${name}`))
    const controller = new AbortController()
    try {
      const value = handler(args, { signal: controller.signal, peer: this })
      // The limiter makes many calls with synchronous results; these need no promise.
      if (!(value instanceof Promise)) return this.#send(['result', id, value])
      this.#running.set(id, controller)
      value.then((result: unknown) => this.#send(['result', id, result]), fail).finally(() => this.#running.delete(id))
    } catch (error) {
      fail(error)
    }
  }

  /** Returns the call, which is not open any more; undefined if it was settled before. */
  #settle(id: number): OpenCall | undefined {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    if (this.#calls.size === 0) clearInterval(this.#check)
    return call
  }

  #abort(id: number, reason: Error): void {
    if (!this.#calls.has(id)) return
    this.#send(['abort', id])
    this.#settle(id)?.reject(reason)
  }

  #rejectLate(): void {
    const now = performance.now()
    for (const [id, { until, name }] of this.#calls)
      if (until <= now) this.#abort(id, unavailable(`${name} did not respond in time`))
  }
}

const disconnected = (): ApiError => unavailable('The process that owns this resource is disconnected')

function unavailable(description: string): ApiError {
  return new ApiError('service_unavailable', description, { headers: { 'retry-after': '1' } })
}
