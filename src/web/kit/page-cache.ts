// The cache of whole pages, without the parts that belong to one reader. docs/contributors/site.md lists the pages that it contains.

import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { bytesToKeep, entityTag } from '#lib/text/json-bytes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { DerivedDefinition } from '#platform/cache/derived-cache.ts'
import { prefersHtml } from '#platform/http/preferred-type.ts'
import type { StoredCoding } from '#platform/http/responses/content-coding.ts'
import type { FastPathRoute } from '#platform/http/route-config.ts'
import type { Deps } from '#ports/deps.ts'
import { isSet, readChoices } from './cookies.ts'
import { deflatePiece, type Piece } from './gzip-pieces.ts'
import type { PersonalPart } from './personal-parts.ts'
import { frameSourcesOf } from './safety.ts'

const compressors: Readonly<Record<StoredCoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
}

/** A rendered page, as visitors without a session see it. It is compressed when a browser first requests a compressed form. */
export type CachedPage = {
  /** Whether the page depends on the visitor's setup. Shared caches must not store it. */
  isPrivate: boolean
  /** Time from which the page is too old, in milliseconds since 1970. */
  expiresAt: number
  route: FastPathRoute
  /** See `ShownPage`. */
  insiders: ReadonlySet<string> | undefined
  /** Players that the page can load. */
  frameSources: string
  bytes: Buffer
  etag: string
  /** The positions of the parts that signed-in readers get instead of the part for visitors. */
  personal: readonly { start: number; end: number; render: PersonalPart }[]
  /** Returns the compressed page, or a promise of it during the compression. */
  compressed(coding: StoredCoding): Buffer | Promise<Buffer>
  /** Returns the fixed pieces before, between and after the personal parts. */
  pieces(): Promise<readonly Piece[]>
}

/** `texts` and the personal parts follow each other in turn. `visitors` are the parts for visitors. */
export function createCachedPage(
  { texts, parts, visitors }: { texts: readonly string[]; parts: readonly PersonalPart[]; visitors: readonly string[] },
  fields: Pick<CachedPage, 'isPrivate' | 'expiresAt' | 'route' | 'insiders'>,
): CachedPage {
  const document = texts.map((text, index) => text + (visitors[index] ?? '')).join('')
  const frameSources = frameSourcesOf(document)
  const bytes = bytesToKeep(document)
  let at = 0
  const personal = parts.map((render, index) => {
    const start = at + Buffer.byteLength(texts[index] ?? '')
    at = start + Buffer.byteLength(visitors[index] ?? '')
    return { start, end: at, render }
  })
  const forms = new Map<StoredCoding, Buffer | Promise<Buffer>>()
  const compress = (coding: StoredCoding): Promise<Buffer> => {
    const pending = compressors[coding](bytes).then((compressed) => {
      forms.set(coding, compressed)
      return compressed
    })
    forms.set(coding, pending)
    return pending
  }
  const compressed = (coding: StoredCoding) => forms.get(coding) ?? compress(coding)
  let fixed: Promise<readonly Piece[]> | undefined
  const pieces = () => {
    const starts = [0, ...personal.map(({ end }) => end)]
    fixed ??= Promise.all(starts.map((start, index) => deflatePiece(bytes.subarray(start, personal[index]?.start))))
    return fixed
  }
  return { ...fields, frameSources, bytes, etag: entityTag(bytes), personal, compressed, pieces }
}

const PAGES = defineCache<DerivedDefinition<CachedPage>>({
  name: 'page',
  contains: 'HTML page without its personal parts, for 1 minute or 1 second',
  // The compressed forms together have about three quarters of the size of the page.
  sizeOf: ({ bytes }) => 1.75 * bytes.length,
})

/**
 * Time in the cache. `until-changed`: until data on the page changes, at most a minute, because pages contain
 * relative times with minutes as the smallest unit. `for-a-second`: the page also shows data whose changes are not
 * announced, such as search results.
 */
export type Caching = 'until-changed' | 'for-a-second'
const AGES_MAX_MS: Readonly<Record<Caching, number>> = { 'until-changed': 60_000, 'for-a-second': 1000 }
/** No link on a page has a longer URL. */
const URL_LENGTH_MAX = 1024

type CacheDeps = Pick<Deps, 'cache' | 'config' | 'taxonomy' | 'now'>

/** The parts of a request that a cached page depends on. */
type Head = Pick<FastifyRequest, 'url' | 'headers' | 'cookies'>

/** Stores the page of one request, which depends on the recorded entities. */
export type PageRecorder = { route: FastPathRoute; expiresAt: number; store(page: CachedPage): void }

/** A page that is being rendered; undefined in the end if it must not be sent to requests that came later. */
type Pending = PromiseWithResolvers<CachedPage | undefined>

export class PageCache {
  readonly #deps: CacheDeps
  /** First segments of the paths of cached pages, and whether only clients that prefer HTML get them. */
  readonly #segments = new Map<string, { onlyHtml: boolean }>()

  /** The pages that are being rendered. */
  readonly #pending = new Map<string, Pending>()

  constructor(deps: CacheDeps) {
    this.#deps = deps
  }

  /** Adds the path of a route whose pages are cached. */
  addPath(path: string, options: { onlyHtml: boolean }): void {
    this.#segments.set(firstSegment(path), options)
  }

  /** Whether the cache can contain the page of a request. */
  isPage({ url, headers }: Pick<Head, 'url' | 'headers'>): boolean {
    const found = this.#segments.get(firstSegment(url))
    return found !== undefined && (!found.onlyHtml || prefersHtml(headers.accept))
  }

  /** Returns the cache key of a request; undefined if its page is not cached. */
  keyOf(head: Head): string | undefined {
    const { url } = head
    if (url.length > URL_LENGTH_MAX) return undefined
    const { language, theme, setup, hidden } = readChoices(this.#deps, head)
    const choice = isSet(setup) ? `${setup.gameVersion}\n${setup.loader}` : ''
    return `${language.tag}\n${theme}\n${url}\n${choice}\n${hidden}`
  }

  /** Whether the cache contains a page, which can be too old. Does not count as a use. */
  has(key: string): boolean {
    return this.#deps.cache.derived(PAGES).has(key)
  }

  find(key: string): CachedPage | undefined {
    const page = this.#deps.cache.derived(PAGES).peek(key)
    return page !== undefined && this.#deps.now() < page.expiresAt ? page : undefined
  }

  /**
   * Waits for the page that another request is rendering. Returns undefined if there is none, and if something that the
   * page shows has changed since it began.
   */
  async awaitPending(key: string): Promise<CachedPage | undefined> {
    return this.#pending.get(key)?.promise
  }

  /**
   * Calls `respond` with a cache that records what the page reads, and with the recorder that stores the page. A change
   * to a recorded entity removes the page.
   */
  async record<T>(
    { key, route, caching }: { key: string; route: FastPathRoute; caching: Caching },
    respond: (cache: Deps['cache'], recorder: PageRecorder) => Promise<T>,
  ): Promise<T> {
    const entry = this.#deps.cache.derived(PAGES).begin(this.#deps.cache)
    const expiresAt = this.#deps.now() + AGES_MAX_MS[caching]
    const pending: Pending = Promise.withResolvers()
    if (!this.#pending.has(key)) this.#pending.set(key, pending)
    const end = (page?: CachedPage): void => {
      pending.resolve(page)
      if (this.#pending.get(key) === pending) this.#pending.delete(key)
    }
    const store = (page: CachedPage): void => end(entry.store(key, page) ? page : undefined)
    try {
      return await respond(entry.cache, { route, expiresAt, store })
    } finally {
      end()
      entry.end()
    }
  }
}

/** Returns the text between the first and the second slash of a path or URL. */
function firstSegment(url: string): string {
  const end = url.slice(1).search(/[/?]/)
  return end < 0 ? url.slice(1) : url.slice(1, end + 1)
}
