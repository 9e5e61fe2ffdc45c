// Bodies that are bytes, such as pictures: any content type, read by the handler once it knows who may send them.
import type { Readable } from 'node:stream'
import { invalidInput } from '#lib/errors.ts'
import type { App } from '../server.ts'

/** In this scope bodies are left unread, as a stream in `req.body`. */
export function leaveBodiesUnparsed(scope: App): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(['multipart/form-data', 'application/x-www-form-urlencoded'], (_req, _payload, done) =>
    done(invalidInput('Send the picture itself as the body, not a form', 'content-type')),
  )
  scope.addContentTypeParser('*', (_req, payload, done) => done(null, payload))
}

/**
 * Reads a body that `leaveBodiesUnparsed` left, into memory. The rest of one that is too large is not read.
 * @throws ApiError `invalid_input` naming the limit and `field`, or that the body broke off.
 */
export async function readRawBody(
  body: unknown,
  { maxBytes, field }: { maxBytes: number; field: string },
): Promise<Buffer> {
  if (body === undefined || body === null) return Buffer.alloc(0)
  const stream = body as Readable
  const pieces: Buffer[] = []
  let size = 0
  try {
    // Leaving the loop must not destroy the connection, over which the answer goes.
    for await (const piece of stream.iterator({ destroyOnReturn: false })) {
      size += piece.length
      if (size > maxBytes) throw invalidInput(`The body is larger than ${maxBytes} bytes`, field)
      pieces.push(piece)
    }
  } catch (error) {
    // A client that goes away is no error of ours, which a plain error would be.
    throw stream.destroyed ? invalidInput('The connection closed before the body was complete', field) : error
  }
  return Buffer.concat(pieces, size)
}
