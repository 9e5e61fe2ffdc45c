// Pictures sent as the raw body of a request. The handler reads the body itself, after it has checked who may send it,
// so that nothing is taken from those who may not.
import type { FastifyRequest } from 'fastify'
import { invalidInput } from '#lib/errors.ts'
import type { App } from './server.ts'

/** Lets the routes of this scope, and of no other, take a body of any content type, which stays unread. */
export function takePictureBodies(scope: App): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_req, _payload, done) => done(null, undefined))
}

/**
 * The bytes of the body, at most `maxBytes`. A larger one is refused by its Content-Length, or at the first byte too
 * many; the server throws the rest away.
 * @throws ApiError `invalid_input` naming the limit.
 */
export async function readPictureBody(req: Pick<FastifyRequest, 'raw'>, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => invalidInput(`The picture is larger than ${maxBytes} bytes`, 'body')
  if (Number(req.raw.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  try {
    // Not `for await` on the stream itself, which would destroy the connection that the answer still needs.
    for await (const chunk of req.raw.iterator({ destroyOnReturn: false })) {
      const bytes: Buffer = Buffer.from(chunk)
      size += bytes.length
      if (size > maxBytes) throw tooLarge()
      chunks.push(bytes)
    }
  } catch (error) {
    if (req.raw.complete || !req.raw.destroyed) throw error
    throw invalidInput('The body ended before it was complete', 'body')
  }
  return Buffer.concat(chunks, size)
}
