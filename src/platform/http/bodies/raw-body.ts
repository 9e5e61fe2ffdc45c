// Binary bodies, such as images, with any content type. The handler reads them after authorization.

import type { Readable } from 'node:stream'
import { invalidInput } from '#lib/errors.ts'
import { describeBytes } from '#lib/text/sizes.ts'
import type { App } from '../server.ts'

/** Provides bodies in this scope as a stream in `req.body`. */
export function leaveBodiesUnparsed(scope: App): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(['multipart/form-data', 'application/x-www-form-urlencoded'], (_req, _payload, done) =>
    done(invalidInput('Send the image itself as the body, not a form', 'content-type')),
  )
  scope.addContentTypeParser('*', (_req, payload, done) => done(null, payload))
}

/**
 * Reads a body of `leaveBodiesUnparsed` into memory.
 * @throws ApiError `invalid_input` with `field` if the body is too large or incomplete.
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
    // The response needs the connection after the loop.
    for await (const piece of stream.iterator({ destroyOnReturn: false })) {
      size += piece.length
      if (size > maxBytes) throw invalidInput(`The body is larger than ${describeBytes(maxBytes)}`, field)
      pieces.push(piece)
    }
  } catch (error) {
    // A disconnected client must not be reported as an internal error.
    throw stream.destroyed ? invalidInput('The connection closed before the body was complete', field) : error
  }
  return Buffer.concat(pieces, size)
}
