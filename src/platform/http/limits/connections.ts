// Limits the connections per client, and aborts requests whose body arrives too slowly.
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { addressKey } from '#lib/address-key.ts'
import { ApiError } from '#lib/errors.ts'
import { errorBody } from '../error-handler.ts'
import { hasBody } from './discard-rests.ts'
import { UNCOUNTED_HEADERS } from './rate-limit.ts'

/** JSON must be complete after `ms`. Other bodies must reach `bytesPerSecond` in each such period. */
export type BodyPace = { ms: number; bytesPerSecond: number }

/** Number of checks per period. */
const CHECKS = 4
/** Time for a rejected client to read the response. */
const LINGER_MS = 2_000

/** Rejects connections if their address (IPv6: their /64) already has `max`. */
export function limitConnections(server: Server, max: number): void {
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const key = addressKey(socket.remoteAddress ?? '')
    const count = open.get(key) ?? 0
    if (count >= max) {
      const message = `This address already has ${max} open connections; close some, or reuse them for several requests`
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

type Upload = { isJson: boolean; startedAt: number; checkedAt: number; bytesThen: number }

/** Aborts requests whose body arrives too slowly. Time in which the server does not read is not counted. */
export function endSlowBodies(server: Server, { ms, bytesPerSecond }: BodyPace): void {
  const uploads = new Map<IncomingMessage, Upload>()
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    if (!hasBody(req)) return
    const { 'content-type': type = '' } = req.headers
    const now = performance.now()
    const isJson = type.startsWith('application/json')
    uploads.set(req, { isJson, startedAt: now, checkedAt: now, bytesThen: req.socket.bytesRead })
    const forget = (): void => void uploads.delete(req)
    req.once('end', forget).once('close', forget)
    // `discardRests` limits the rest of the body after the response.
    res.once('finish', forget)
  })
  const timer = setInterval(() => {
    const now = performance.now()
    for (const [req, state] of uploads) {
      const error = checkPace(req, state, now)
      if (error === undefined) continue
      uploads.delete(req)
      rejectUnread(req.socket, error)
    }
  }, ms / CHECKS)
  timer.unref()
  server.once('close', () => clearInterval(timer))

  function checkPace(req: IncomingMessage, state: Upload, now: number): ApiError | undefined {
    if (state.isJson) {
      if (now - state.startedAt < ms) return undefined
      return tooSlow(`was not complete after ${ms / 1000} seconds`)
    }
    const { bytesRead } = req.socket
    const sinceMs = now - state.checkedAt
    // If `readableLength` is not 0, the server has not read the received bytes yet.
    if (req.readableLength === 0 && sinceMs < ms) return undefined
    if (req.readableLength === 0 && bytesRead - state.bytesThen < (bytesPerSecond * sinceMs) / 1000)
      return tooSlow(`is slower than ${bytesPerSecond} bytes per second`)
    Object.assign(state, { checkedAt: now, bytesThen: bytesRead })
    return undefined
  }
}

function tooSlow(message: string): ApiError {
  return new ApiError('request_timeout', `The body ${message}`, { details: { field: 'body', message } })
}

/** Sends an error on a connection without a complete request, and closes the connection. */
export function rejectUnread(socket: Socket, error: ApiError): void {
  if (socket.destroyed || !socket.writable) return void socket.destroy()
  const requestId = randomUUID()
  const body = JSON.stringify(errorBody(error, { id: requestId, url: '' }))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Access-Control-Allow-Origin': '*',
    ...UNCOUNTED_HEADERS,
    'X-Request-Id': requestId,
    'Content-Length': Buffer.byteLength(body),
    ...error.headers,
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`)
  // Unread bytes would reset the connection, and the client could lose the response.
  socket.resume()
  // Releases the socket even if the client continues to send or never closes its side.
  const destroy = setTimeout(() => socket.destroy(), LINGER_MS)
  destroy.unref()
  socket.once('close', () => clearTimeout(destroy)).on('error', () => {})
}
