// Whole pages as bytes: kept where they are the same for everybody who asks for them in the same way, and sent.
// docs/site.md tells which pages those are.

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bytesToKeep, entityTag } from '#lib/text/json-bytes.ts'
import type { DerivedDefinition } from '#platform/cache/derived-cache.ts'
import type { FastPathRoute, FastPathSource } from '#platform/http/fast-path/fast-path.ts'
import { type Coding, codedTag, codingFor } from '#platform/http/responses/content-coding.ts'
import { matchesEntityTag } from '#platform/http/responses/entity-tags.ts'
import type { Deps } from '#ports/deps.ts'
import { readPreferences } from './preferences.ts'
import { pageHeaders } from './safety.ts'
import type { SessionCookie } from './session-cookie.ts'
import { isSet, readSetup } from './setup.ts'

const compressors: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
}

type DocumentFields = {
  /** Whether it shows what its reader has chosen: then nobody else may keep it. */
  isOwn: boolean
  /** When it was made, in milliseconds since 1970. */
  madeAt: number
  /** Which answered. */
  route: FastPathRoute
}

/** A page as it is sent. Its compressed forms are made when they are first asked for. */
export class PageDocument {
  readonly bytes: Buffer
  readonly etag: string
  readonly isOwn: boolean
  readonly madeAt: number
  readonly route: FastPathRoute
  readonly #coded = new Map<Coding, Buffer | Promise<Buffer>>()

  constructor(text: string, { isOwn, madeAt, route }: DocumentFields) {
    this.bytes = bytesToKeep(text)
    this.etag = entityTag(this.bytes)
    this.isOwn = isOwn
    this.madeAt = madeAt
    this.route = route
  }

  /** The compressed bytes at once when they are there, else a promise of them. */
  coded(coding: Coding): Buffer | Promise<Buffer> {
    const known = this.#coded.get(coding)
    if (known !== undefined) return known
    const made = compressors[coding](this.bytes).then((bytes) => {
      this.#coded.set(coding, bytes)
      return bytes
    })
    this.#coded.set(coding, made)
    return made
  }
}

const PAGE: DerivedDefinition<PageDocument> = {
  name: 'page',
  // Its compressed forms are about half of it together.
  sizeOf: ({ bytes }) => 1.5 * bytes.length,
}

/** Pages say how long ago things were, to the minute. */
const KEPT_MS = 60_000
/** A longer address is not that of a link on our pages. */
const ADDRESS_LENGTH_MAX = 1024

type Asked = {
  /** What a request says of it: the address as it was sent. */
  head: Pick<FastifyRequest, 'url' | 'headers' | 'cookies'>
  cookie: SessionCookie
  deps: Pick<Deps, 'config' | 'taxonomy'>
}

/** What a page depends on besides what it shows; undefined where it may depend on who asks. */
export function pageKey({ head, cookie, deps }: Asked): string | undefined {
  const { url } = head
  if (cookie.read(head) !== undefined || url.length > ADDRESS_LENGTH_MAX) return undefined
  const { language, theme } = readPreferences(deps.config, head)
  const setup = readSetup(deps.config, deps.taxonomy, head)
  const chosen = isSet(setup) ? `${setup.gameVersion}\n${setup.loader}` : ''
  return `${language.tag}\n${theme}\n${url}\n${chosen}`
}

export function keptPage({ cache, now }: Pick<Deps, 'cache' | 'now'>, key: string): PageDocument | undefined {
  const page = cache.derived(PAGE).peek(key)
  return page !== undefined && now() - page.madeAt < KEPT_MS ? page : undefined
}

/** The key of a page that is found by what it shows, so that it is never older than that. */
export function foundKey(key: string, answers: readonly (Uint8Array | string)[]): string {
  const hash = createHash('sha256')
  for (const answer of answers) hash.update(answer)
  return `${key}\n${hash.digest('base64')}`
}

/** Keeps the page that is being made, which must be the same for everybody with this key. */
export type Keeper = { key: string; route: FastPathRoute; keep(key: string, page: PageDocument): void }

/** Makes a page that may be kept. `make` reads through the cache that it is handed. */
export async function makeKept<Made>(
  { cache }: Pick<Deps, 'cache'>,
  make: (cache: Deps['cache'], keep: Keeper['keep']) => Promise<Made>,
): Promise<Made> {
  const making = cache.derived(PAGE).begin(cache)
  try {
    return await make(making.cache, making.store)
  } finally {
    making.end()
  }
}

const PAGE_TYPE = 'text/html; charset=utf-8'

/** What is the same for everybody may be kept by anybody, and is asked for again each time; the rest by its reader. */
const cacheControlOf = (isOwn: boolean): string => (isOwn ? 'private, no-cache' : 'public, max-age=0, must-revalidate')

export function markPage(reply: FastifyReply, isOwn: boolean): FastifyReply {
  return reply.header('cache-control', cacheControlOf(isOwn)).type(PAGE_TYPE)
}

/** A page for one reader: names and values of its headers in turn, and its bytes unless they have them already. */
type KeptAnswer = { headers: string[]; bytes: Buffer | Promise<Buffer> | undefined }

/** In the smallest coding that its reader takes. */
function answerOf(page: PageDocument, headers: IncomingHttpHeaders): KeptAnswer {
  const coding = codingFor(headers['accept-encoding'])
  const known = headers['if-none-match']
  const own = [
    'cache-control',
    cacheControlOf(page.isOwn),
    'content-type',
    PAGE_TYPE,
    'vary',
    'accept, accept-encoding, accept-language, cookie',
    'etag',
    coding === undefined ? page.etag : codedTag(page.etag, coding),
  ]
  if (known !== undefined && matchesEntityTag(known, page.etag)) return { headers: own, bytes: undefined }
  if (coding === undefined) return { headers: own, bytes: page.bytes }
  return { headers: [...own, 'content-encoding', coding], bytes: page.coded(coding) }
}

/** Sends a page that is kept. */
export function sendKept(req: FastifyRequest, reply: FastifyReply, page: PageDocument): void {
  const { headers, bytes } = answerOf(page, req.headers)
  for (let at = 0; at < headers.length; at += 2) void reply.header(headers[at] ?? '', headers[at + 1])
  if (bytes === undefined) return void reply.status(304).send()
  if (Buffer.isBuffer(bytes)) return void reply.send(bytes)
  bytes.then(
    (ready) => reply.send(ready),
    (error: Error) => reply.removeHeader('content-encoding').send(error),
  )
}

type ReadyPages = {
  deps: Pick<Deps, 'cache' | 'config' | 'now' | 'taxonomy'>
  cookie: SessionCookie
  /** How the paths of kept pages begin: `/mod/`. */
  beginnings: ReadonlySet<string>
  readCookies: (header: string) => FastifyRequest['cookies']
}

/** Pages that are kept under their address leave before the framework. */
export function readyPages({ deps, cookie, beginnings, readCookies }: ReadyPages): FastPathSource {
  const { cache, config } = deps
  const common = Object.entries(pageHeaders(config)()).flat()
  return ({ url = '', headers }) => {
    if (!beginnings.has(url.slice(0, url.indexOf('/', 1) + 1))) return undefined
    // Other codings are the compressor's.
    const encoding = headers['accept-encoding']
    if (encoding !== undefined && codingFor(encoding) === undefined) return undefined
    const cookies = headers.cookie === undefined ? {} : readCookies(headers.cookie)
    const key = pageKey({ head: { url, headers, cookies }, cookie, deps })
    if (key === undefined || !cache.derived(PAGE).has(key)) return undefined
    const page = keptPage(deps, key)
    const answer = page === undefined ? undefined : answerOf(page, headers)
    if (page === undefined || answer === undefined || answer.bytes instanceof Promise) return undefined
    return { route: page.route, headers: [...common, ...answer.headers], bytes: answer.bytes }
  }
}
