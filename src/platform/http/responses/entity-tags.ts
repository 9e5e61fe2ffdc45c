// Strong ETags, conditional requests and Cache-Control.
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  entityTag,
  type JsonPart,
  joinedLength,
  joinJson,
  layOutJsonObject,
  PART_BYTES,
  partsOfObject,
  writeObject,
} from '#lib/text/json-bytes.ts'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import { CODINGS, codedTag, codingFor } from './content-coding.ts'
import { sendRaw } from './declared-responses.ts'
import { hasCodings, varyByCoding } from './encode-response.ts'

/**
 * Returns the ETag of the form that the client has, if `If-None-Match` contains it: in a list, as `*`, or weak (RFC 9110,
 * 13.1.2). `etag` is the ETag of the uncompressed form. A 304 needs the ETag of the same form as its 200, because caches
 * compare them.
 */
export function findKnownTag(headers: IncomingHttpHeaders, etag: string): string | undefined {
  const { 'if-none-match': known, 'accept-encoding': accepted } = headers
  if (known === undefined) return undefined
  if (known === etag || known.trim() === '*') return etag
  const tags = new Set(known.split(',').map((tag) => tag.trim().replace(/^W\//, '')))
  const coding = codingFor(
    accepted,
    CODINGS.filter((each) => tags.has(codedTag(etag, each))),
  )
  if (coding !== undefined) return codedTag(etag, coding)
  return tags.has(etag) ? etag : undefined
}

/** Whether the client has the current content. Then sets the status 304 and the ETag of the form that the client has. */
export function isUnchanged(req: Pick<FastifyRequest, 'headers'>, reply: FastifyReply, etag: string): boolean {
  const known = findKnownTag(req.headers, etag)
  if (known === undefined) return false
  if (known !== etag) varyByCoding(reply)
  void reply.status(304).header('etag', known)
  return true
}

export const CACHE_CONTROL = {
  public: 'public, max-age=0, must-revalidate',
  shared: 'public, max-age=0, must-revalidate',
  tags: 'public, max-age=3600',
  private: 'private, max-age=0, must-revalidate',
  'no-store': 'no-store',
} as const

type SendDone = (error: null, payload?: unknown) => void

/**
 * The onSend hook that sets the status, ETag and Cache-Control: 204 if the handler returned nothing, 304 if the client has
 * the current version.
 */
export function tagResponse(req: FastifyRequest, reply: FastifyReply, payload: unknown, done: SendDone): void {
  if (payload === undefined && reply.statusCode === 200) void reply.status(204)
  if (reply.hasHeader('cache-control')) return done(null, payload)
  const policy = req.routeOptions.config?.cache ?? 'no-store'
  const isPrivate = req.viewer !== null && policy === 'public'
  void reply.header('cache-control', CACHE_CONTROL[isPrivate ? 'private' : policy])
  const isRead = req.method === 'GET' || req.method === 'HEAD'
  // A client must not keep the response, so it has nothing to compare an ETag with.
  if (policy === 'no-store') void reply.removeHeader('etag')
  if (!isRead || reply.statusCode !== 200 || policy === 'no-store') return done(null, payload)
  if (typeof payload !== 'string' && !(payload instanceof Uint8Array)) return done(null, payload)
  let etag = reply.getHeader('etag')
  if (typeof etag !== 'string') {
    etag = entityTag(payload)
    void reply.header('etag', etag)
  }
  // Before the status changes, because a 304 has no codings.
  hasCodings(reply, payload)
  if (!isUnchanged(req, reply, etag)) return done(null, payload)
  void reply.removeHeader('content-type').removeHeader('content-length').removeHeader('content-encoding')
  done(null, null)
}

/** The last onSend hook: leaves out the body of a response to HEAD, and keeps the headers of the response to GET. */
export function omitBody(req: FastifyRequest, reply: FastifyReply, payload: unknown, done: SendDone): void {
  if (req.method !== 'HEAD') return done(null, payload)
  const body = payload as Readable | Buffer | string | null | undefined
  if (typeof body === 'object' && body !== null && 'destroy' in body) body.on('error', () => {}).destroy()
  else if (![204, 304].includes(reply.statusCode)) void reply.header('content-length', Buffer.byteLength(body ?? ''))
  done(null, null)
}

/** A cached part of a response, with its ETag. */
type Entity = { readonly bytes: Uint8Array; readonly etag: string }

/** Sends a JSON array of cached entities. The ETag depends on their ETags, because hashing megabytes of content is slower. */
export async function sendList(reply: JoinedReply, entities: readonly Entity[]): Promise<never> {
  // An entity computes its ETag on first use.
  const tags = await convertInPieces(entities, ({ etag }) => etag)
  const length = joinedLength(entities)
  return sendJoined(reply, { length, write: (target) => joinJson(entities, target) }, `[${tags.join()}]`)
}

/**
 * Sends a JSON object whose values are cached entities or lists of them. The response to a read gets an ETag.
 * @throws ApiError `invalid_input` if the response would be too large; then the rest of `parts` is not read.
 */
export function sendObject(reply: JoinedReply, parts: Iterable<readonly [key: string, JsonPart<Entity>]>): never {
  const object = layOutJsonObject(parts)
  const { length, entries } = object
  const { method, headers } = reply.request
  if (method !== 'POST' || length < 2 * PART_BYTES || codingFor(headers['accept-encoding'], CODINGS) !== undefined) {
    const tags = entries.map(({ head, value }) => head + ('etag' in value ? value.etag : `[${tagsOf(value)}]`))
    return sendJoined(reply, { length, write: (target) => writeObject(object, target) }, tags.join())
  }
  // In parts, because writing a megabyte to a connection takes two milliseconds.
  const body = Readable.from(partsOfObject(object), { objectMode: false })
  return sendBytes(reply.header('content-length', length), body)
}

/** Sends the stored compressed form of a joined response if there is one; otherwise joins it. `tags` identify its content. */
function sendJoined(
  reply: JoinedReply,
  { length, write }: { length: number; write(target: Buffer): Buffer },
  tags: string,
): never {
  const { request, server } = reply
  const tag = entityTag(tags)
  const coding = codingFor(request.headers['accept-encoding'], CODINGS)
  const stored = coding === undefined ? undefined : server.codedForms.find(tag, coding)
  reply.contentTag = tag
  const etag = request.method === 'GET' || request.method === 'HEAD' ? tag : undefined
  if (stored === undefined) return sendBytes(reply, write(reuseBuffer(reply, length)), etag)
  void reply.header('content-encoding', coding)
  return sendBytes(reply, stored, etag)
}

function tagsOf(entities: readonly Entity[]): string {
  return entities.map(({ etag }) => etag).join()
}

/** Returns memory that is reused after the response is sent. */
export function reuseBuffer(
  { raw, server: { listBuffers } }: Pick<JoinedReply, 'raw' | 'server'>,
  bytes: number,
): Buffer {
  const buffer = listBuffers.take(bytes)
  if (buffer === undefined) return Buffer.allocUnsafe(bytes)
  // After the operating system has the last byte. The memory of an aborted response is not reused.
  raw.once('finish', () => listBuffers.giveBack(buffer))
  return buffer
}

type JoinedReply = Pick<FastifyReply, 'header' | 'type' | 'contentTag'> & {
  raw: Pick<FastifyReply['raw'], 'once'>
  request: Pick<FastifyRequest, 'method' | 'headers'>
  server: Pick<FastifyReply['server'], 'listBuffers' | 'codedForms'>
}

/** Sends JSON with its ETag and bypasses serialisation. A route handler can return the result. */
export function sendBytes(
  reply: Pick<FastifyReply, 'header' | 'type'>,
  bytes: Uint8Array | Readable,
  etag?: string,
): never {
  if (etag !== undefined) void reply.header('etag', etag)
  return sendRaw(reply.type('application/json; charset=utf-8'), bytes)
}
