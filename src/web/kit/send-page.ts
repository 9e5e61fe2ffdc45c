// Sends pages: rendered for the request, or from the cache, through the framework or on the fast path.

import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { entityTag } from '#lib/text/json-bytes.ts'
import type { Config } from '#platform/config/config.ts'
import { codedTag, codingFor, STORED_CODINGS } from '#platform/http/responses/content-coding.ts'
import { findKnownTag, isUnchanged, reuseBuffer } from '#platform/http/responses/entity-tags.ts'
import type { FastPathSource } from '#platform/http/route-config.ts'
import type { Markup } from '#web/ui/html.ts'
import { layout, type Page } from '#web/ui/layout.ts'
import type { SessionCookie } from './cookies.ts'
import type { FormRefusal } from './forms/read-form.ts'
import { deflateOnce, joinGzip } from './gzip-pieces.ts'
import { type CachedPage, createCachedPage, type PageCache, type PageRecorder } from './page-cache.ts'
import { type PersonalParts, type Reader, renderParts, type SplitDocument } from './personal-parts.ts'
import { frameSourcesOf, NOWHERE, pageHeaders } from './safety.ts'

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
  /**
   * For cached pages: IDs of the accounts that might see more on the page than others. The page is rendered for each
   * request of these accounts and of moderators. Default: everyone sees the same, except for personal parts.
   */
  insiders?: ReadonlySet<string> | undefined
}

export type SendOptions = {
  req: FastifyRequest
  reply: FastifyReply
  reader: Reader
  parts: PersonalParts
  /** `never`: browsers do not store the page. `private`: only the visitor's browser stores it, otherwise every cache. No cache stores errors. */
  storage: 'never' | 'private' | 'public'
}

const PAGE_TYPE = 'text/html; charset=utf-8'
const VARY = 'accept, accept-language, cookie'
const CODED_VARY = 'accept, accept-encoding, accept-language, cookie'

/** Caches revalidate pages for each request. */
const cacheControl = (isPrivate: boolean): string =>
  isPrivate ? 'private, no-cache' : 'public, max-age=0, must-revalidate'

const statusOf = ({ status, refusal }: ShownPage): number => status ?? refusal?.status ?? 200

function renderDocument({ reply, reader, parts }: SendOptions, shown: ShownPage): SplitDocument {
  const { status: _, refusal, widget, isSecret: __, insiders: ___, part, ...rest } = shown
  if (widget !== undefined) reply.widgetSources = widget.origins.join(' ')
  const scripts = widget === undefined ? {} : { scripts: [widget.scriptUrl] }
  const hasErrors = refusal !== undefined
  return parts.split(part !== undefined ? String(part) : layout(reader.page, { ...rest, ...scripts, hasErrors }))
}

export function sendPage(options: SendOptions, shown: ShownPage): FastifyReply {
  const { texts, parts } = renderDocument(options, shown)
  const rendered = renderParts(parts, options.reader)
  const send = (personal: readonly string[]) =>
    sendDocument(options, shown, texts.map((text, index) => text + (personal[index] ?? '')).join(''))
  return rendered instanceof Promise ? sendLater(options.reply, rendered.then(send)) : send(rendered)
}

/** Returns the reply, which the promise sends. A promise of the reply itself would resolve only after the response. */
export function sendLater(reply: FastifyReply, sending: Promise<unknown>): FastifyReply {
  sending.catch((error: Error) => reply.send(error))
  return reply
}

function sendDocument({ req, reply, storage }: SendOptions, shown: ShownPage, document: string): FastifyReply {
  const status = statusOf(shown)
  reply.frameSources = frameSourcesOf(document)
  void reply.status(status).type(PAGE_TYPE)
  if (storage === 'never' || shown.isSecret === true || status !== 200) return reply.send(document)
  const etag = entityTag(document)
  void reply
    .header('cache-control', cacheControl(storage === 'private'))
    .header('vary', VARY)
    .header('etag', etag)
  return isUnchanged(req, reply, etag) ? reply.send() : reply.send(document)
}

/** Renders a page as visitors without a session see it, and stores it unless it is an error. */
export async function renderCachedPage(
  options: SendOptions,
  { route, expiresAt, store }: PageRecorder,
  shown: ShownPage,
): Promise<CachedPage | undefined> {
  if (statusOf(shown) !== 200) return undefined
  const { texts, parts } = renderDocument(options, shown)
  const visitors = await renderParts(parts, options.reader)
  const { insiders } = shown
  const isPrivate = options.storage === 'private'
  const page = createCachedPage({ texts, parts, visitors }, { isPrivate, expiresAt, route, insiders })
  store(page)
  return page
}

/** Sends a cached page with the parts that belong to a signed-in reader. */
export async function sendCachedPageTo(
  reader: Reader,
  { req, reply }: Pick<SendOptions, 'req' | 'reply'>,
  { bytes, etag: sharedTag, personal, pieces, frameSources }: CachedPage,
): Promise<FastifyReply> {
  reply.frameSources = frameSources
  const rendered = await renderParts(
    personal.map(({ render }) => render),
    reader,
  )
  const etag = entityTag(sharedTag + rendered.join('\u0000'))
  void reply.type(PAGE_TYPE).header('cache-control', cacheControl(true)).header('vary', VARY).header('etag', etag)
  if (isUnchanged(req, reply, etag)) return reply.send()
  if (codingFor(req.headers['accept-encoding'], ['gzip']) === undefined)
    return reply.send(joinParts(reply, { bytes, personal }, rendered))
  const fixed = await pieces()
  const joined = joinGzip(
    fixed.flatMap((piece, index) => (index === 0 ? [piece] : [deflateOnce(rendered[index - 1] ?? ''), piece])),
  )
  void reply.header('content-encoding', 'gzip').header('vary', CODED_VARY).header('etag', codedTag(etag, 'gzip'))
  return reply.send(joined)
}

/** Joins a cached page with personal parts, in memory that is used again after the response. */
function joinParts(
  reply: FastifyReply,
  { bytes, personal }: Pick<CachedPage, 'bytes' | 'personal'>,
  rendered: readonly string[],
): Buffer {
  const length = personal.reduce(
    (sum, { start, end }, index) => sum + Buffer.byteLength(rendered[index] ?? '') - (end - start),
    bytes.length,
  )
  const target = reuseBuffer(reply, length)
  let from = 0
  let at = 0
  for (const [index, { start, end }] of personal.entries()) {
    at += bytes.copy(target, at, from, start)
    at += target.write(rendered[index] ?? '', at)
    from = end
  }
  at += bytes.copy(target, at, from)
  return target.subarray(0, at)
}

export function sendCachedPage(req: FastifyRequest, reply: FastifyReply, page: CachedPage): FastifyReply {
  const { headers, bytes } = responseFor(page, req.headers)
  reply.frameSources = page.frameSources
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
  const coding = codingFor(request['accept-encoding'], STORED_CODINGS)
  const headers = ['cache-control', cacheControl(page.isPrivate), 'content-type', PAGE_TYPE, 'vary', CODED_VARY]
  const known = findKnownTag(request, page.etag)
  if (known !== undefined) return { headers: [...headers, 'etag', known], bytes: undefined }
  if (coding === undefined) return { headers: [...headers, 'etag', page.etag], bytes: page.bytes }
  const tag = codedTag(page.etag, coding)
  return { headers: [...headers, 'etag', tag, 'content-encoding', coding], bytes: page.compressed(coding) }
}

type FastPathOptions = {
  config: Config
  cookie: SessionCookie
  pageCache: PageCache
  parseCookies: (header: string) => FastifyRequest['cookies']
}

/** Sends cached pages to visitors without a session, without calling the framework. */
export function cachedPageSource({ config, cookie, pageCache, parseCookies }: FastPathOptions): FastPathSource {
  const secure = pageHeaders(config)
  const common = Object.entries(secure()).flat()
  const commonOf = ({ frameSources }: CachedPage): string[] =>
    frameSources === '' ? common : Object.entries(secure({ ...NOWHERE, frameSources })).flat()
  return ({ url = '', headers }) => {
    if (headers.authorization !== undefined || !pageCache.isPage({ url, headers })) return undefined
    // The compressor of the framework handles other codings.
    const encoding = headers['accept-encoding']
    if (encoding !== undefined && codingFor(encoding, STORED_CODINGS) === undefined) return undefined
    const cookies = headers.cookie === undefined ? {} : parseCookies(headers.cookie)
    if (cookie.read({ cookies }) !== undefined) return undefined
    const key = pageCache.keyOf({ url, headers, cookies })
    if (key === undefined || !pageCache.has(key)) return undefined
    const page = pageCache.find(key)
    if (page === undefined) return undefined
    const { headers: own, bytes } = responseFor(page, headers)
    return bytes instanceof Promise ? undefined : { route: page.route, headers: [...commonOf(page), ...own], bytes }
  }
}
