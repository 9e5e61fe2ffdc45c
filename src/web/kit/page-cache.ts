// The cache of whole pages, for visitors without a session. docs/site.md lists the pages that it contains.

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { bytesToKeep, entityTag } from '#lib/text/json-bytes.ts'
import type { DerivedDefinition } from '#platform/cache/derived-cache.ts'
import type { Coding } from '#platform/http/responses/content-coding.ts'
import type { FastPathRoute } from '#platform/http/route-config.ts'
import type { Deps } from '#ports/deps.ts'
import { isSet, readChoices, type SessionCookie } from './cookies.ts'

const compressors: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
}

/** A rendered page. It is compressed when a browser first requests a compressed form. */
export type CachedPage = {
  /** Whether the page depends on the visitor's setup. Shared caches must not store it. */
  isPrivate: boolean
  /** Time of rendering, in milliseconds since 1970. */
  renderedAt: number
  route: FastPathRoute
  bytes: Buffer
  etag: string
  /** Returns the compressed page, or a promise of it during the compression. */
  compressed(coding: Coding): Buffer | Promise<Buffer>
}

export function createCachedPage(
  document: string,
  fields: Pick<CachedPage, 'isPrivate' | 'renderedAt' | 'route'>,
): CachedPage {
  const bytes = bytesToKeep(document)
  const forms = new Map<Coding, Buffer | Promise<Buffer>>()
  const compress = (coding: Coding): Promise<Buffer> => {
    const pending = compressors[coding](bytes).then((compressed) => {
      forms.set(coding, compressed)
      return compressed
    })
    forms.set(coding, pending)
    return pending
  }
  return { ...fields, bytes, etag: entityTag(bytes), compressed: (coding) => forms.get(coding) ?? compress(coding) }
}

const PAGES: DerivedDefinition<CachedPage> = {
  name: 'page',
  // Both compressed forms together have about half the size of the page.
  sizeOf: ({ bytes }) => 1.5 * bytes.length,
}

/** Maximum age of a cached page. Pages contain relative times, with minutes as the smallest unit. */
const AGE_MAX_MS = 60_000
/** No link on a page has a longer URL. */
const URL_LENGTH_MAX = 1024

type CacheDeps = Pick<Deps, 'cache' | 'config' | 'taxonomy' | 'now'>

/** The parts of a request that a cached page depends on. */
type Head = Pick<FastifyRequest, 'url' | 'headers' | 'cookies'>

/** Stores the page of one request, and records the entities that it depends on. */
export type PageRecorder = { key: string; route: FastPathRoute; store(key: string, page: CachedPage): void }

export class PageCache {
  readonly #deps: CacheDeps
  readonly #cookie: SessionCookie

  constructor(deps: CacheDeps, cookie: SessionCookie) {
    this.#deps = deps
    this.#cookie = cookie
  }

  /** Returns the cache key of a request; undefined if its page can depend on the user. */
  keyOf(head: Head): string | undefined {
    const { url } = head
    if (this.#cookie.read(head) !== undefined || url.length > URL_LENGTH_MAX) return undefined
    const { language, theme, setup } = readChoices(this.#deps, head)
    const choice = isSet(setup) ? `${setup.gameVersion}\n${setup.loader}` : ''
    return `${language.tag}\n${theme}\n${url}\n${choice}`
  }

  /** Whether the cache contains a page, which can be too old. Does not count as a use. */
  has(key: string): boolean {
    return this.#deps.cache.derived(PAGES).has(key)
  }

  find(key: string): CachedPage | undefined {
    const page = this.#deps.cache.derived(PAGES).peek(key)
    return page !== undefined && this.#deps.now() - page.renderedAt < AGE_MAX_MS ? page : undefined
  }

  /**
   * Calls `respond` with a cache that records what the page reads, and with the recorder that stores the page. A change
   * to a recorded entity removes the page.
   */
  async record<T>(
    { key, route }: { key: string; route: FastPathRoute },
    respond: (cache: Deps['cache'], recorder: PageRecorder) => Promise<T>,
  ): Promise<T> {
    const entry = this.#deps.cache.derived(PAGES).begin(this.#deps.cache)
    try {
      return await respond(entry.cache, { key, route, store: entry.store })
    } finally {
      entry.end()
    }
  }
}

/** Returns the cache key of a page that depends on these results in addition to the request. */
export function resultsKey(key: string, results: readonly (Uint8Array | string)[]): string {
  const hash = createHash('sha256')
  for (const result of results) hash.update(result)
  return `${key}\n${hash.digest('base64')}`
}
