// Routes with cached pages. A page is rendered without a viewer and is the same for everyone, except for its personal
// parts. For readers who might see more on it, the page is rendered for each request.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isModerator } from '#features/basics/access/viewer.ts'
import type { FastPathRoute } from '#platform/http/route-config.ts'
import type { CachedPage, Caching } from './page-cache.ts'
import { type Area, type PageRequest, readRequest, type SharedShow, type WebDeps } from './request.ts'
import {
  renderCachedPage,
  type SendOptions,
  type ShownPage,
  sendCachedPage,
  sendCachedPageTo,
  sendLater,
  sendPage,
} from './send-page.ts'

type Handler = (request: PageRequest) => Promise<FastifyReply>

/** Returns the handler of a route that sends cached pages and caches the pages that `handler` shows. */
export function sharedPages(
  web: WebDeps,
  { area, route, caching }: { area: Area; route: FastPathRoute; caching: Caching },
  handler: Handler,
): (req: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | undefined {
  const { pageCache } = web

  /** Sends the page that another request renders, or renders it for all readers. `reader` is signed in. */
  const render = async (
    key: string,
    req: FastifyRequest,
    reply: FastifyReply,
    reader?: PageRequest,
  ): Promise<FastifyReply> => {
    const pending = await pageCache.awaitPending(key)
    if (pending !== undefined)
      return reader === undefined ? sendCachedPage(req, reply, pending) : sendTo(reader, pending)
    return pageCache.record({ key, route, caching }, async (cache, recorder) => {
      const send = async (options: SendOptions, shown: ShownPage): Promise<FastifyReply> => {
        const page = await renderCachedPage(options, recorder, shown)
        if (reader !== undefined) return page === undefined ? handler(reader) : sendTo(reader, page)
        return page === undefined ? sendPage(options, shown) : sendCachedPage(req, reply, page)
      }
      const showShared: SharedShow = (options, shown) => sendLater(reply, send(options, shown))
      return handler(await readRequest({ ...web, deps: { ...web.deps, cache } }, req, reply, { area, showShared }))
    })
  }

  const sendTo = (reader: PageRequest, page: CachedPage): Promise<FastifyReply> =>
    isInsider(reader, page) ? handler(reader) : sendCachedPageTo(reader, reader, page)

  const sendToReader = async (key: string | undefined, reader: PageRequest): Promise<FastifyReply> => {
    if (key === undefined) return handler(reader)
    const { req, reply, viewer } = reader
    const page = pageCache.find(key)
    if (viewer === null) return page === undefined ? render(key, req, reply) : sendCachedPage(req, reply, page)
    if (page !== undefined) return sendTo(reader, page)
    // A signed-in reader might see a page that visitors cannot see.
    return render(key, req, reply, reader).catch(() => handler(reader))
  }

  return (req, reply) => {
    const key = pageCache.keyOf(req)
    if (key === undefined || web.cookie.read(req) !== undefined)
      return readRequest(web, req, reply, { area }).then((reader) => sendToReader(key, reader))
    const page = pageCache.find(key)
    if (page === undefined) return render(key, req, reply)
    // Without a promise, a cached page is sent faster.
    sendCachedPage(req, reply, page)
    return undefined
  }
}

function isInsider({ viewer }: PageRequest, { insiders }: CachedPage): boolean {
  return insiders !== undefined && viewer !== null && (isModerator(viewer) || insiders.has(viewer.id))
}
