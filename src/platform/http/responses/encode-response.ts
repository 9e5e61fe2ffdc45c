// Compresses responses on request.
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CODINGS, COMPRESS_BYTES_MIN, codedTag, codingFor, compressStream } from './content-coding.ts'

const COMPRESSIBLE = /^(application\/(.+\+)?(json|xml)\b|text\/(?!event-stream)|image\/svg)/

type Content = Readable | Buffer | string
type SendDone = (error: Error | null, payload?: unknown) => void

/** The last onSend hook, before the one that omits the body. Sends the form that the client prefers, with its own ETag. */
export function encodeResponse(req: FastifyRequest, reply: FastifyReply, payload: unknown, done: SendDone): void {
  const content = payload as Content | null | undefined
  if (!hasCodings(reply, content)) return done(null, content)
  const coding = codingFor(req.headers['accept-encoding'], CODINGS)
  if (coding === undefined) return done(null, content)
  const etag = reply.getHeader('etag')
  // A weak ETag, as that of a file of the API viewer, stands for all forms.
  if (typeof etag === 'string' && !etag.startsWith('W/')) void reply.header('etag', codedTag(etag, coding))
  if (reply.hasHeader('content-encoding')) return done(null, content)
  void reply.header('content-encoding', coding).removeHeader('content-length')
  if (isStream(content)) return done(null, compressStream(content, coding))
  const tag = reply.contentTag ?? (typeof etag === 'string' ? etag : undefined)
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const kind = String(reply.getHeader('content-type')).startsWith('text/html') ? 'page' : 'data'
  const form = reply.server.codedForms.encode(tag, coding, bytes, kind)
  if (form instanceof Promise) form.then((encoded) => done(null, encoded), done)
  else done(null, form)
}

/** Whether a response has compressed forms. Then adds `Vary`, because caches must not send them to every client. */
export function hasCodings(reply: FastifyReply, payload: unknown): payload is Content {
  const content = payload as Content | null | undefined
  if (content === null || content === undefined) return false
  if (!COMPRESSIBLE.test(String(reply.getHeader('content-type') ?? 'application/json'))) return false
  // Positions in a part of a file count bytes of the file.
  if (reply.statusCode === 206 || reply.hasHeader('content-range')) return false
  // A compressed form of a joined response has a tag; pages in a compressed form already have all headers.
  const isStored = reply.hasHeader('content-encoding')
  if (isStored ? reply.contentTag === undefined : !isStream(content) && Buffer.byteLength(content) < COMPRESS_BYTES_MIN)
    return false
  varyByCoding(reply)
  return true
}

export function varyByCoding(reply: FastifyReply): void {
  const vary = reply.getHeader('vary')
  if (vary === undefined) void reply.header('vary', 'accept-encoding')
  else if (!/accept-encoding/i.test(String(vary))) void reply.header('vary', `${String(vary)}, accept-encoding`)
}

function isStream(content: Content): content is Readable {
  return typeof content === 'object' && 'pipe' in content
}
