// What one client may hold: so many connections, and each request body only for as long as it keeps coming.
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { addressKey } from '#lib/address-key.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { errorBody } from '../error-handler.ts'

/** JSON must have come whole after `ms`; other bodies must bring `bytesPerSecond` in every such time. */
export type BodyPace = { ms: number; bytesPerSecond: number }

/** Bodies are looked at so often in the time that they have. */
const LOOKS = 4
/** How long a refused client may take to read the answer. */
const LINGER_MS = 2_000

/** Refuses connections beyond `max` of one address (of a /64 for IPv6). */
export function limitConnections(server: Server, max: number): void {
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const key = addressKey(socket.remoteAddress ?? '')
    const count = open.get(key) ?? 0
    if (count >= max) {
      const message = `This address holds ${max} connections already; close some, or use them for several requests`
      rejectUnread(socket, new ApiError('ratelimit_error', message, { headers: { 'retry-after': '1' } }))
      return
    }
    open.set(key, count + 1)
    socket.once('close', () => {
      const left = (open.get(key) ?? 1) - 1
      if (left === 0) open.delete(key)
      else open.set(key, left)
    })
  })
}

type Coming = { isJson: boolean; startedAt: number; lookedAt: number; bytesThen: number }

/** Ends requests whose body comes too slowly. Time in which the server itself does not read counts for nobody. */
export function endSlowBodies(server: Server, { ms, bytesPerSecond }: BodyPace): void {
  const coming = new Map<IncomingMessage, Coming>()
  server.on('request', (req: IncomingMessage) => {
    const { 'content-length': length, 'transfer-encoding': encoding, 'content-type': type = '' } = req.headers
    if (encoding === undefined && (length === undefined || length === '0')) return
    const now = performance.now()
    const isJson = type.startsWith('application/json')
    coming.set(req, { isJson, startedAt: now, lookedAt: now, bytesThen: req.socket.bytesRead })
    const forget = (): void => void coming.delete(req)
    req.once('end', forget).once('close', forget)
  })
  const look = setInterval(() => {
    const now = performance.now()
    for (const [req, state] of coming) {
      const error = judge(req, state, now)
      if (error === undefined) continue
      coming.delete(req)
      rejectUnread(req.socket, error)
    }
  }, ms / LOOKS)
  look.unref()
  server.once('close', () => clearInterval(look))

  function judge(req: IncomingMessage, state: Coming, now: number): ApiError | undefined {
    if (state.isJson) {
      if (now - state.startedAt < ms) return undefined
      return invalidInput(`The body was not complete after ${ms / 1000} seconds`, 'body')
    }
    const { bytesRead } = req.socket
    const sinceMs = now - state.lookedAt
    // What waits to be read was sent in time.
    if (req.readableLength > 0) Object.assign(state, { lookedAt: now, bytesThen: bytesRead })
    else if (sinceMs >= ms) {
      if (bytesRead - state.bytesThen < (bytesPerSecond * sinceMs) / 1000) {
        return invalidInput(`The body comes more slowly than ${bytesPerSecond} bytes in a second`, 'body')
      }
      Object.assign(state, { lookedAt: now, bytesThen: bytesRead })
    }
    return undefined
  }
}

/** Answers on a connection that has no request, or whose request is not read to its end, and closes it. */
export function rejectUnread(socket: Socket, error: ApiError): void {
  if (socket.destroyed || !socket.writable) return void socket.destroy()
  const requestId = randomUUID()
  const body = JSON.stringify(errorBody(error, requestId))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Access-Control-Allow-Origin': '*',
    'X-Request-Id': requestId,
    'Content-Length': Buffer.byteLength(body),
    ...error.headers,
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`)
  // A client that goes on sending, or never closes its side, holds nothing.
  const destroy = setTimeout(() => socket.destroy(), LINGER_MS)
  destroy.unref()
  socket.once('close', () => clearTimeout(destroy)).on('error', () => {})
}
