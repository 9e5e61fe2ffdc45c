// Sends documents for programs, which request them again and again: with ETag and Last-Modified.
import type { FastifyReply } from 'fastify'
import { entityTag } from '#lib/text/json-bytes.ts'
import { isUnchanged } from '#platform/http/responses/entity-tags.ts'
import type { PageRequest } from '#web/kit/request.ts'

type Document = {
  type: string
  /** A function is called only if the program does not have the document; it needs an `etag`. */
  body: string | (() => Promise<string>)
  /** Default: from the body. */
  etag?: string
  cacheControl: string
  /** Milliseconds since 1970. */
  modifiedAt: number
  /** Request headers that the document depends on. */
  vary?: string
}

/** Sends the document, or 304 if the program has it (RFC 9110, 13.2.2). */
export async function sendDocument(
  { req, reply }: Pick<PageRequest, 'req' | 'reply'>,
  { type, body, cacheControl, modifiedAt, vary, ...given }: Document,
): Promise<FastifyReply> {
  const etag = given.etag ?? entityTag(typeof body === 'string' ? body : await body())
  const modified = new Date(modifiedAt).toUTCString()
  void reply.header('etag', etag).header('last-modified', modified).header('cache-control', cacheControl)
  if (vary !== undefined) void reply.header('vary', vary)
  const { 'if-none-match': tags, 'if-modified-since': since = '' } = req.headers
  // A program that sends an ETag does not rely on the time, which has no more than seconds.
  if (isUnchanged(req, reply, etag)) return reply.send()
  if (tags === undefined && Date.parse(since) >= Date.parse(modified)) return reply.status(304).send()
  return reply.type(type).send(typeof body === 'string' ? body : await body())
}

/** Returns a function for documents that depend on settings: the time at which this process first sent the present text. */
export function createModifiedTimes(now: () => number): (key: string, body: string) => number {
  const latest = new Map<string, { body: string; at: number }>()
  return (key, body) => {
    const known = latest.get(key)
    if (known?.body === body) return known.at
    const at = now()
    latest.set(key, { body, at })
    return at
  }
}
