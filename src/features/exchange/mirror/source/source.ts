// The client of a source: bounded and patient requests to the instance that the operator names.
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '#lib/errors.ts'
import { OperatorError } from '#lib/operator-error.ts'
import { openAddress } from '#platform/outgoing/call-address.ts'
import { OutgoingError, type OutgoingErrorCode } from '#platform/outgoing/outgoing-error.ts'
import type { OutgoingRules } from '#platform/outgoing/rules.ts'
import { CopyFailure } from '../failures.ts'
import { readBounded } from './read-bounded.ts'

/** Maximum size of a JSON body. */
const JSON_BYTES_MAX = 8 * 1024 * 1024
const TIMEOUT_MS = 60_000
/** Time limit of a download; the next request continues it. */
const DOWNLOAD_TIMEOUT_MS = 3_600_000
const ATTEMPTS_MAX = 5
const FIRST_PAUSE_MS = 1_000
/** Longest wait for a source that asks to wait. */
const WAIT_MAX_MS = 3_600_000
const REDIRECTS_MAX = 3
/** Share of the requests of a window below which requests are spread over the rest of the window. */
const LOW_SHARE = 0.1

export type SourceOptions = {
  /** Base URL without a slash at the end. */
  address: string
  userAgent: string
  /** The rules for other hosts than that of the address, which the source names. */
  rules: OutgoingRules
  signal?: AbortSignal | undefined
  /** Waits between requests. Tests replace it. */
  pause?: (ms: number) => Promise<unknown>
}

/** The source does not respond, or not as a Depot does. The run ends. */
export class SourceUnusable extends OperatorError {}

/** A JSON body is larger than the limit. */
export class BodyTooLarge extends Error {}

/** The response to a request that the source refuses. */
export class RefusedBySource extends Error {
  readonly status: number
  readonly body: unknown
  constructor(path: string, status: number, body: unknown) {
    super(`${path} has the status ${status}`)
    this.status = status
    this.body = body
  }
}

type Sending = { headers?: Record<string, string>; timeoutMs?: number; body?: string | undefined }

export type Source = ReturnType<typeof openSource>

type Sender = { send: (url: string, sending: Sending) => Promise<Response>; requests: () => number }

/** Sends single requests, and counts them. */
function openSender({
  host,
  userAgent,
  rules,
  signal,
}: { host: string } & Pick<SourceOptions, 'userAgent' | 'rules' | 'signal'>): Sender {
  let requests = 0

  /** Sends one request and follows redirects. @throws Error for a host that the rules refuse. */
  async function send(url: string, { headers = {}, timeoutMs = TIMEOUT_MS, body }: Sending): Promise<Response> {
    let target = url
    for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
      requests += 1
      const timeout = AbortSignal.timeout(timeoutMs)
      const request = {
        headers: { 'user-agent': userAgent, ...headers },
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      }
      // Only the operator's own choice can lead into a private network.
      const isHost = URL.parse(target)?.host === host
      if (!isHost && body !== undefined) throw new Error(`${url} redirects to another host`)
      const posting = body === undefined ? {} : { method: 'POST', body }
      const response = isHost
        ? await fetch(target, { ...request, ...posting, redirect: 'manual' })
        : await fetchElsewhere(rules, target, request)
      const location = response.headers.get('location')
      if (response.status < 300 || response.status > 399 || location === null) return response
      await response.body?.cancel()
      target = nextTarget(target, location)
    }
    throw new Error(`${url} redirects more than ${REDIRECTS_MAX} times`)
  }
  return { send, requests: () => requests }
}

/** Returns the target of a redirect. @throws CopyFailure for a redirect to an unencrypted connection. */
export function nextTarget(from: string, location: string): string {
  const target = new URL(location, from)
  if (new URL(from).protocol === 'https:' && target.protocol !== 'https:')
    throw new CopyFailure('unavailable', `${from} redirects to an address without https`)
  return target.href
}

export function openSource({ address, userAgent, rules, signal, pause = sleep }: SourceOptions) {
  const { host } = new URL(address)
  const { send, requests } = openSender({ host, userAgent, rules, signal })
  let pauseMs = 0

  /** Waits as the last response asked. */
  async function slowDown(): Promise<void> {
    const ms = pauseMs
    pauseMs = 0
    if (ms > 0) await pause(ms)
    signal?.throwIfAborted()
  }

  /**
   * Sends a GET request until it succeeds: again after a lost connection, after 429 and after errors of gateways.
   * @throws SourceUnusable after 5 attempts.
   */
  async function open(url: string, sending: Sending = {}): Promise<Response> {
    let problem = ''
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      await slowDown()
      try {
        const response = await send(url, sending)
        pauseMs = pauseForLimit(response.headers)
        if (![429, 502, 503, 504].includes(response.status)) return response
        await response.body?.cancel()
        problem = `it has the status ${response.status}`
        pauseMs = waitOf(response.headers, attempt)
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof CopyFailure) throw error
        if (error instanceof ApiError) throw new CopyFailure('unavailable', `${url}: ${error.message}`)
        if (error instanceof OutgoingError && FINAL.includes(error.code))
          throw new CopyFailure('unavailable', `${url}: ${error.message}`)
        problem = reasonOf(error)
        pauseMs = FIRST_PAUSE_MS * 2 ** attempt
      }
    }
    if (URL.parse(url)?.host !== host) throw new CopyFailure('unavailable', `${url} does not respond: ${problem}`)
    throw new SourceUnusable(
      `The source ${address} does not respond to ${url}: ${problem}. Check the address, and run the command again; it continues where it stopped`,
    )
  }

  /**
   * Returns the JSON document at a path, or the response to a POST request with this body.
   * @throws RefusedBySource for another status than 200; BodyTooLarge; SourceUnusable if the body is not JSON.
   */
  async function getJson(path: string, sent?: object): Promise<unknown> {
    const asked = sent === undefined ? {} : { 'content-type': 'application/json' }
    const body = sent === undefined ? undefined : JSON.stringify(sent)
    const sending = { headers: { accept: 'application/json', ...asked }, body }
    for (let attempt = 0; ; attempt += 1) {
      const response = await open(`${address}${path}`, sending).catch((error) => {
        if (!(error instanceof CopyFailure)) throw error
        throw new SourceUnusable(`The source ${address} cannot be used: ${error.message}. Check the address`)
      })
      try {
        const text = (await readBounded(response, JSON_BYTES_MAX, () => new BodyTooLarge(path))).toString('utf8')
        if (response.status !== 200) throw new RefusedBySource(path, response.status, parsed(text))
        const json = parsed(text)
        if (json === undefined) throw new SourceUnusable(`${address}${path} is not JSON. Check the address`)
        return json
      } catch (error) {
        signal?.throwIfAborted()
        const isFinal = [BodyTooLarge, RefusedBySource, SourceUnusable].some((kind) => error instanceof kind)
        if (isFinal) throw error
        if (attempt + 1 >= ATTEMPTS_MAX)
          throw new SourceUnusable(`${address}${path} ends too early: ${reasonOf(error)}. Run the command again`)
        pauseMs = FIRST_PAUSE_MS * 2 ** attempt
      }
    }
  }

  /** Like `open`, with the time for a large body. */
  const openFile = (url: string, headers: Record<string, string>): Promise<Response> =>
    open(url, { headers, timeoutMs: DOWNLOAD_TIMEOUT_MS })

  return { address, getJson, open, openFile, requests, pause, signal }
}

/** Returns the wait that spreads the remaining requests over the rest of the window of the rate limit. */
function pauseForLimit(headers: Headers): number {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
  ) as [number, number, number]
  const isLow = remaining < limit * LOW_SHARE && reset >= 0
  return isLow ? Math.min(WAIT_MAX_MS, (reset * 1000) / Math.max(1, remaining)) : 0
}

/** Failures of other hosts that another attempt does not change. */
const FINAL: readonly OutgoingErrorCode[] = ['refused_address', 'off', 'too_large', 'tls']

async function fetchElsewhere(
  rules: OutgoingRules,
  url: string,
  request: { headers: Record<string, string>; signal: AbortSignal },
): Promise<Response> {
  const { status, headers, body } = await openAddress(rules, { url, ...request })
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const hasBody = ![101, 204, 205, 304].includes(status)
  if (!hasBody) body.destroy()
  return new Response(hasBody ? (Readable.toWeb(body) as ReadableStream) : null, { status, headers: pairs })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns how long a source asks to wait: `Retry-After` in seconds or as a date, otherwise longer with each attempt. */
function waitOf(headers: Headers, attempt: number): number {
  const text = headers.get('retry-after')
  const ms = text === null ? Number.NaN : /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Math.min(WAIT_MAX_MS, Number.isNaN(ms) ? FIRST_PAUSE_MS * 2 ** attempt : Math.max(0, ms))
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
