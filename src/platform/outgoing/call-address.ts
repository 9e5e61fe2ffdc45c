// Calls URLs that users supply: webhooks, mirrors, imports. A URL must not lead into the operator's network, and a server
// that is slow, endless or hostile must not hold anything up. All features use this module for such URLs.
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { ApiError, validationError } from '#lib/errors.ts'
import { withoutEnd } from '#lib/text/linear-text.ts'
import { CALL_LIMITS, type CallClock, type CallLimits, DOWNLOAD_LIMITS, startClock } from './call-limits.ts'
import { hostOf, openSocket } from './open-socket.ts'
import { OutgoingError } from './outgoing-error.ts'
import { isAllowedHost, isRefusedHost, type OutgoingRules } from './rules.ts'

const URL_MAX = 2_048
/** Ports of databases and clusters above 1023. */
const REFUSED_PORTS = [2049, 3306, 5432, 6379, 6443, 9200, 11211, 27017]

export type OutgoingCall = {
  url: string
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | Buffer
  limits?: Partial<CallLimits>
  /** Cancels the call; the error is its reason. */
  signal?: AbortSignal
}

/** `truncated`: the body was longer than `limits.bytes`, and `body` is the first part. */
export type OutgoingResponse = { status: number; headers: IncomingHttpHeaders; body: Buffer; truncated: boolean }

/**
 * Returns the URL if the rules permit it, without resolving its host. A dot at the end of the host is
 * removed.
 * @throws ApiError 400 with the field `url`.
 */
export function checkAddress(text: string, rules: OutgoingRules): URL {
  const refuse = (message: string) => validationError('url', message)
  if (text.length > URL_MAX) throw refuse(`must be at most ${URL_MAX} characters long`)
  const url = URL.parse(text)
  if (url === null || /[\s\p{Cc}]/u.test(text)) throw refuse('must be a URL')
  if (!['http:', 'https:'].includes(url.protocol)) throw refuse('must be an https URL')
  if (url.username !== '' || url.password !== '') throw refuse('must not contain a user name or a password')
  if (url.hostname.endsWith('.')) url.hostname = withoutEnd(url.hostname, '.')
  const host = hostOf(url)
  if (host.length > 253 || isRefusedHost(host, rules))
    throw refuse('must not lead to a private or reserved address, or to one that the operator has forbidden')
  const isAllowed = isAllowedHost(host, rules)
  if (url.protocol === 'http:' && !isAllowed) throw refuse('must be an https URL')
  if (!isPermittedPort(url, isAllowed) && !rules.isTrusted)
    throw refuse(`must use port 443, 8443, or a port from 1024 except ${REFUSED_PORTS.join(', ')}`)
  return url
}

/**
 * Calls a URL once and returns the whole response. Redirects are not followed: they are responses like others.
 * @throws OutgoingError if there is no complete response within the limits (`CALL_LIMITS`, unless `limits` has others).
 */
export async function callAddress(rules: OutgoingRules, call: OutgoingCall): Promise<OutgoingResponse> {
  const limits = { ...CALL_LIMITS, ...call.limits }
  const { response, clock } = await sendCall(rules, call, limits)
  const pieces: Buffer[] = []
  let size = 0
  try {
    for await (const piece of readBody(response, clock, limits.idleMs)) {
      pieces.push(piece)
      size += piece.length
      if (size > limits.bytes) break
    }
  } finally {
    clock.stop()
  }
  const body = Buffer.concat(pieces, size).subarray(0, limits.bytes)
  return { ...headOf(response), body, truncated: size > limits.bytes }
}

/**
 * Calls a URL for a download. The caller reads `body` or destroys it. It ends with an OutgoingError if the response passes a
 * limit (`DOWNLOAD_LIMITS`, unless `limits` has others).
 * @throws OutgoingError if there is no response within the limits, or if its announced size passes the limit.
 */
export async function openAddress(
  rules: OutgoingRules,
  call: OutgoingCall,
): Promise<Omit<OutgoingResponse, 'body' | 'truncated'> & { body: Readable }> {
  const limits = { ...DOWNLOAD_LIMITS, ...call.limits }
  const { response, clock } = await sendCall(rules, call, limits)
  const end = () => {
    clock.stop()
    response.destroy()
  }
  if (Number(response.headers['content-length'] ?? 0) > limits.bytes) {
    end()
    throw new OutgoingError('too_large')
  }
  const body = Readable.from(limitSize(readBody(response, clock, limits.idleMs), limits.bytes), { objectMode: false })
  body.once('close', end)
  return { ...headOf(response), body }
}

function isPermittedPort({ protocol, port }: URL, isAllowed: boolean): boolean {
  if (port === '' || port === '443' || port === '8443') return protocol === 'https:' || isAllowed
  return Number(port) >= 1024 && !REFUSED_PORTS.includes(Number(port))
}

function headOf({ statusCode, headers }: IncomingMessage): { status: number; headers: IncomingHttpHeaders } {
  return { status: statusCode ?? 0, headers }
}

/** Sends the request and returns the response when its headers have arrived. The caller stops the clock. */
async function sendCall(
  rules: OutgoingRules,
  call: OutgoingCall,
  limits: CallLimits,
): Promise<{ response: IncomingMessage; clock: CallClock }> {
  if (!rules.isOn) throw new OutgoingError('off')
  const url = checkAgain(call.url, rules)
  const clock = startClock(limits.totalMs, call.signal)
  try {
    clock.within(limits.connectMs)
    const socket = await openSocket(url, rules, clock.signal)
    clock.within(limits.firstByteMs)
    const response = await sendRequest(url, call, socket, clock.signal)
    clock.pause()
    return { response, clock }
  } catch (error) {
    clock.stop()
    throw errorOf(error, clock.signal)
  }
}

/** The settings may have changed since the URL was stored. */
function checkAgain(text: string, rules: OutgoingRules): URL {
  try {
    return checkAddress(text, rules)
  } catch (error) {
    if (error instanceof ApiError) throw new OutgoingError('refused_address')
    throw error
  }
}

function sendRequest(
  url: URL,
  { method = 'GET', headers, body }: OutgoingCall,
  socket: Socket,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const sent = request({
      method,
      path: `${url.pathname}${url.search}`,
      headers: { 'user-agent': 'Depot', ...headers, ...length, host: url.host, connection: 'close' },
      createConnection: () => socket,
      signal,
    })
    sent.once('response', resolve)
    sent.on('error', reject)
    // A response that switches protocols ends without an error.
    sent.once('close', () => {
      socket.destroy()
      reject(new OutgoingError('connection'))
    })
    sent.end(body)
  })
}

/** Yields the body. The time in which the reader does not read does not count as idle. */
async function* readBody(response: IncomingMessage, clock: CallClock, idleMs: number): AsyncGenerator<Buffer> {
  const pieces: AsyncIterator<Buffer> = response[Symbol.asyncIterator]()
  try {
    while (true) {
      clock.within(idleMs)
      const { value, done } = await pieces.next()
      clock.pause()
      if (done === true) return
      yield value
    }
  } catch (error) {
    throw errorOf(error, clock.signal)
  } finally {
    clock.pause()
    response.destroy()
  }
}

async function* limitSize(body: AsyncGenerator<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > bytes) throw new OutgoingError('too_large')
    yield piece
  }
}

function errorOf(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof OutgoingError) return error
  const hasLargeHeaders = error instanceof Error && 'code' in error && error.code === 'HPE_HEADER_OVERFLOW'
  return new OutgoingError(hasLargeHeaders ? 'too_large' : 'connection', error)
}
