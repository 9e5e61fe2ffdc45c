// The header `Link` of a list, with the address of its next page.
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A list that is an array has the address of its next page in the header `Link` (RFC 8288). */
export function linkToNext(req: Pick<FastifyRequest, 'url'>, reply: Pick<FastifyReply, 'header'>, next: string | null) {
  if (next === null) return
  const query = new URLSearchParams(req.url.split('?')[1])
  query.set('cursor', next)
  void reply.header('link', `<?${query}>; rel="next"`)
}

/** Part of the description of a list with such a header. */
export const LINKED =
  'With `limit`, the header `Link` has the address of the next page (`rel="next"`). Without it, the response is the whole list.'
