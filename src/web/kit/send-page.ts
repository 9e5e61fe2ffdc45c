// Sends pages: rendered for the request, or from the cache through the framework or on the fast path.

import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { entityTag } from '#lib/text/json-bytes.ts'
import type { Config } from '#platform/config/config.ts'
import type { Markup } from '#platform/html/html.ts'
import { layout, type Page } from '#platform/html/layout.ts'
import type { PageContext } from '#platform/html/page-context.ts'
import { codedTag, codingFor } from '#platform/http/responses/content-coding.ts'
import { matchesEntityTag } from '#platform/http/responses/entity-tags.ts'
import type { FastPathSource } from '#platform/http/route-config.ts'
import type { FormRefusal } from './forms.ts'
import { type CachedPage, createCachedPage, type PageCache, type PageRecorder } from './page-cache.ts'
import { pageHeaders } from './safety.ts'

/** A page and the status of its response. */
export type ShownPage = Page & {
  /** Default: the status of the refusal, otherwise 200. */
  status?: number
  /** The reason why the form on the page was rejected. */
  refusal?: FormRefusal | undefined
  /** Whether the page shows secrets, so that browsers must not store it. Default: false */
  isSecret?: boolean
  /** Sent instead of the whole page: the part that its script has requested. */
  part?: Markup | undefined
  /** Captcha on the page. */
  widget?: { scriptUrl: string; origins: readonly string[] } | undefined
}

export type SendOptions = {
  req: FastifyRequest
  reply: FastifyReply
  page: PageContext
  /** `never`: browsers do not store the page. `private`: only the visitor's browser stores it, otherwise every cache. No cache stores errors. */
  storage: 'never' | 'private' | 'public'
  recorder?: PageRecorder | undefined
}

const PAGE_TYPE = 'text/html; charset=utf-8'

/** Caches revalidate pages for each request. */
const cacheControl = (isPrivate: boolean): string =>
  isPrivate ? 'private, no-cache' : 'public, max-age=0, must-revalidate'

export function sendPage({ req, reply, page, storage, recorder }: SendOptions, shown: ShownPage): FastifyReply {
  const { status = shown.refusal?.status ?? 200, refusal, widget, isSecret = false, part, ...rest } = shown
  if (widget !== undefined) reply.widgetSources = widget.origins.join(' ')
  const scripts = widget === undefined ? {} : { scripts: [widget.scriptUrl] }
  const document =
    part !== undefined ? String(part) : layout(page, { ...rest, ...scripts, hasErrors: refusal !== undefined })
  const isPrivate = storage === 'private'
  // A page that sets a cookie contains a form with a token, which is different for each visitor.
  if (recorder !== undefined && status === 200 && !reply.hasHeader('set-cookie')) {
    const cached = createCachedPage(document, { isPrivate, renderedAt: page.now, route: recorder.route })
    recorder.store(recorder.key, cached)
    return sendCachedPage(req, reply, cached)
  }
  void reply.status(status).type(PAGE_TYPE)
  if (storage === 'never' || isSecret || status !== 200) return reply.send(document)
  const etag = entityTag(document)
  void reply
    .header('cache-control', cacheControl(isPrivate))
    .header('vary', 'accept, accept-language, cookie')
    .header('etag', etag)
  return matchesEntityTag(req.headers['if-none-match'] ?? '', etag) ? reply.status(304).send() : reply.send(document)
}

export function sendCachedPage(req: FastifyRequest, reply: FastifyReply, page: CachedPage): FastifyReply {
  const { headers, bytes } = responseFor(page, req.headers)
  for (let at = 0; at < headers.length; at += 2) void reply.header(headers[at] ?? '', headers[at + 1])
  if (bytes === undefined) return reply.status(304).send()
  if (Buffer.isBuffer(bytes)) return reply.send(bytes)
  bytes.then(
    (compressed) => reply.send(compressed),
    (error: Error) => reply.removeHeader('content-encoding').send(error),
  )
  return reply
}

/** Returns names and values of the headers in turn, and the best compressed form; no bytes if the browser has the page. */
function responseFor(
  page: CachedPage,
  request: IncomingHttpHeaders,
): { headers: string[]; bytes: Buffer | Promise<Buffer> | undefined } {
  const coding = codingFor(request['accept-encoding'])
  const headers = [
    'cache-control',
    cacheControl(page.isPrivate),
    'content-type',
    PAGE_TYPE,
    'vary',
    'accept, accept-encoding, accept-language, cookie',
    'etag',
    coding === undefined ? page.etag : codedTag(page.etag, coding),
  ]
  if (matchesEntityTag(request['if-none-match'] ?? '', page.etag)) return { headers, bytes: undefined }
  if (coding === undefined) return { headers, bytes: page.bytes }
  return { headers: [...headers, 'content-encoding', coding], bytes: page.compressed(coding) }
}

type FastPathOptions = {
  config: Config
  pageCache: PageCache
  /** First segments of the paths of cached pages, such as `/mod/`. */
  prefixes: ReadonlySet<string>
  parseCookies: (header: string) => FastifyRequest['cookies']
}

/** Sends cached pages whose key depends on the request alone without calling the framework. */
export function cachedPageSource({ config, pageCache, prefixes, parseCookies }: FastPathOptions): FastPathSource {
  const common = Object.entries(pageHeaders(config)()).flat()
  return ({ url = '', headers }) => {
    if (!prefixes.has(url.slice(0, url.indexOf('/', 1) + 1))) return undefined
    // The compressor of the framework handles other codings.
    const encoding = headers['accept-encoding']
    if (encoding !== undefined && codingFor(encoding) === undefined) return undefined
    const cookies = headers.cookie === undefined ? {} : parseCookies(headers.cookie)
    const key = pageCache.keyOf({ url, headers, cookies })
    if (key === undefined || !pageCache.has(key)) return undefined
    const page = pageCache.find(key)
    if (page === undefined) return undefined
    const { headers: own, bytes } = responseFor(page, headers)
    return bytes instanceof Promise ? undefined : { route: page.route, headers: [...common, ...own], bytes }
  }
}
