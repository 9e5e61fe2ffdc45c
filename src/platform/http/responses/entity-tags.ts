// Strong entity tags, conditional requests, and how long an answer may be kept.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { entityTag, type JsonPart, joinedLength, joinJson, joinJsonObject } from '#lib/text/json-bytes.ts'

/**
 * Whether `If-None-Match` names `etag`: a list, `*`, weak forms (RFC 9110, 13.1.2: weak comparison), and the forms
 * that compressed answers carry.
 */
export function matchesEntityTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true
  if (ifNoneMatch === etag) return true
  return ifNoneMatch.split(',').some((candidate) => {
    const tag = candidate.trim().replace(/^W\//, '')
    return tag === etag || tag.replace(/-(?:gzip|br|zstd)"$/, '"') === etag
  })
}

export const CACHE_CONTROL = {
  public: 'public, max-age=0, must-revalidate',
  shared: 'public, max-age=0, must-revalidate',
  tags: 'public, max-age=3600',
  private: 'private, max-age=0, must-revalidate',
  'no-store': 'no-store',
} as const

/** onSend: marks a successful read with its tag and lifetime, and answers 304 where the client has it already. */
export function tagResponse(
  req: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload?: unknown) => void,
): void {
  if (reply.hasHeader('cache-control')) return done(null, payload)
  const policy = req.routeOptions.config?.cache ?? 'no-store'
  const known = req.viewer !== null && policy === 'public'
  void reply.header('cache-control', CACHE_CONTROL[known ? 'private' : policy])
  const isRead = req.method === 'GET' || req.method === 'HEAD'
  if (!isRead || reply.statusCode !== 200 || policy === 'no-store') return done(null, payload)
  if (typeof payload !== 'string' && !(payload instanceof Uint8Array)) return done(null, payload)
  let etag = reply.getHeader('etag')
  if (typeof etag !== 'string') {
    etag = entityTag(payload)
    void reply.header('etag', etag)
  }
  const ifNoneMatch = req.headers['if-none-match']
  if (ifNoneMatch === undefined || !matchesEntityTag(ifNoneMatch, etag)) return done(null, payload)
  void reply.status(304).removeHeader('content-type').removeHeader('content-length')
  done(null, null)
}

/** A part of an answer, as ready bytes with their tag. */
type Entity = { readonly bytes: Uint8Array; readonly etag: string }

/**
 * Sends a JSON array of entities that are ready bytes already. Its tag is made from theirs: cheaper than from the
 * bytes, of which there may be megabytes.
 */
export function sendList(reply: JoinedReply, entities: readonly Entity[]): never {
  const bytes = joinJson(entities, reuseBuffer(reply, joinedLength(entities)))
  return sendBytes(reply, bytes, entityTag(tagsOf(entities)))
}

/**
 * Sends a JSON object whose values are such entities or lists of them, with a tag from theirs where the request is a read.
 * @throws ApiError `invalid_input` when it would be too large; of `parts` no more are taken then.
 */
export function sendObject(reply: JoinedReply, parts: Iterable<readonly [key: string, JsonPart<Entity>]>): never {
  const { method } = reply.request
  const tags = method === 'GET' || method === 'HEAD' ? ([] as string[]) : undefined
  const noted = tags === undefined ? parts : noteTags(parts, tags)
  const bytes = joinJsonObject(noted, (length) => reuseBuffer(reply, length))
  return sendBytes(reply, bytes, tags === undefined ? undefined : entityTag(tags.join()))
}

function* noteTags<Part extends readonly [key: string, JsonPart<Entity>]>(parts: Iterable<Part>, tags: string[]) {
  for (const part of parts) {
    const [key, value] = part
    tags.push(`${key}:${'etag' in value ? value.etag : `[${tagsOf(value)}]`}`)
    yield part
  }
}

function tagsOf(entities: readonly Entity[]): string {
  return entities.map(({ etag }) => etag).join()
}

/** Memory that is used again once the answer has left. */
function reuseBuffer({ raw, server: { listBuffers } }: JoinedReply, bytes: number): Buffer {
  const buffer = listBuffers.take(bytes)
  if (buffer === undefined) return Buffer.allocUnsafe(bytes)
  // Once the last byte is with the operating system; of an answer that is cut off the memory is not used again.
  raw.once('finish', () => listBuffers.giveBack(buffer))
  return buffer
}

type JoinedReply = Pick<FastifyReply, 'header' | 'type'> & {
  raw: Pick<FastifyReply['raw'], 'once'>
  request: Pick<FastifyRequest, 'method'>
  server: Pick<FastifyReply['server'], 'listBuffers'>
}

/**
 * Sends ready JSON bytes with their tag, past the serialiser. Return what it returns: the reply, whose type says
 * `never` because the compiler cannot see that the bytes are of the declared response.
 */
export function sendBytes(reply: Pick<FastifyReply, 'header' | 'type'>, bytes: Uint8Array, etag?: string): never {
  if (etag !== undefined) void reply.header('etag', etag)
  return reply.type('application/json; charset=utf-8').send(bytes) as never
}
