// Reads and discards the rest of a body after an early response. The system would reset a connection that closes with unread
// bytes, and a client that reads after writing would lose the response.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum time and size of the rest of a body. */
const DISCARD_MS = 30_000
const DISCARD_BYTES_MAX = 64 * 1024 * 1024

/** Keeps each connection open, at least for reading, until the body of its request has arrived or exceeds the limits. */
export function discardRests(server: Server): void {
  /** The newest request with a body of each connection. */
  const requests = new WeakMap<Socket, IncomingMessage>()
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    if (!hasBody(req)) return
    const { socket } = req
    if (!requests.has(socket)) delayClose(socket, () => requests.get(socket)?.complete !== false)
    requests.set(socket, req)
    // Before the listener of Node.js, which would discard the rest without counting it.
    res.prependOnceListener('finish', () => discardRest(req))
  })
}

/** Closes only the writing side as long as the request is incomplete. */
function delayClose(socket: Socket, isComplete: () => boolean): void {
  const close = socket.destroySoon
  // Node.js calls this function after a response with `Connection: close`.
  socket.destroySoon = () => {
    if (isComplete()) close.call(socket)
    else socket.end()
  }
}

/** Whether the request announces a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  return encoding !== undefined || (length !== undefined && length !== '0')
}

function discardRest(req: IncomingMessage): void {
  if (req.complete || req.destroyed) return
  const { socket } = req
  let sizeBytes = 0
  const timer = setTimeout(() => req.destroy(), DISCARD_MS)
  timer.unref()
  req.on('data', (chunk: Buffer) => {
    sizeBytes += chunk.length
    if (sizeBytes > DISCARD_BYTES_MAX) req.destroy()
  })
  req.once('end', () => {
    if (socket.writableEnded) socket.destroySoon()
  })
  req.once('close', () => clearTimeout(timer))
  req.read(0)
  req.resume()
}
