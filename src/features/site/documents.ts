// Whole pages as bytes: kept where they are the same for everybody who asks for them in the same way, and sent.
// docs/site.md tells which pages those are.

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CompositionDefinition } from '#cache/compositions.ts'
import { readPreferences } from '#features/pages/preferences.ts'
import type { SessionCookie } from '#features/pages/session-cookie.ts'
import { type Coding, codedTag, codingFor } from '#http/content-coding.ts'
import { matchesEntityTag } from '#http/entity-tags.ts'
import { bytesToKeep, entityTag } from '#lib/json-bytes.ts'
import type { Deps } from '#main/deps.ts'
import { isSet, readSetup } from './setup.ts'

const compressors: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
}

/** A page as it is sent. Its compressed forms are made when they are first asked for. */
export class PageDocument {
  readonly bytes: Buffer
  readonly etag: string
  /** Whether it shows what its reader has chosen: then nobody else may keep it. */
  readonly isOwn: boolean
  /** When it was made, in milliseconds since 1970. */
  readonly madeAt: number
  readonly #coded = new Map<Coding, Buffer | Promise<Buffer>>()

  constructor(text: string, { isOwn, madeAt }: { isOwn: boolean; madeAt: number }) {
    this.bytes = bytesToKeep(text)
    this.etag = entityTag(this.bytes)
    this.isOwn = isOwn
    this.madeAt = madeAt
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

const PAGE: CompositionDefinition<PageDocument> = {
  name: 'page',
  // Its compressed forms are about half of it together.
  sizeOf: ({ bytes }) => 1.5 * bytes.length,
}

/** Pages say how long ago things were, to the minute. */
const KEPT_MS = 60_000
/** A longer address is not that of a link on our pages. */
const ADDRESS_LENGTH_MAX = 1024

type Asked = { req: FastifyRequest; cookie: SessionCookie; deps: Pick<Deps, 'config' | 'taxonomy'> }

/** What a page depends on besides what it shows; undefined where it may depend on who asks. */
export function pageKey({ req, cookie, deps }: Asked): string | undefined {
  const { url = '' } = req.raw
  if (cookie.read(req) !== undefined || url.length > ADDRESS_LENGTH_MAX) return undefined
  const { language, theme } = readPreferences(deps.config, req)
  const setup = readSetup(deps.config, deps.taxonomy, req)
  const chosen = isSet(setup) ? `${setup.gameVersion}\n${setup.loader}` : ''
  return `${language.tag}\n${theme}\n${url}\n${chosen}`
}

export function keptPage({ cache, now }: Pick<Deps, 'cache' | 'now'>, key: string): PageDocument | undefined {
  const page = cache.compositions(PAGE).peek(key)
  return page !== undefined && now() - page.madeAt < KEPT_MS ? page : undefined
}

/** The key of a page that is found by what it shows, so that it is never older than that. */
export function foundKey(key: string, answers: readonly (Uint8Array | string)[]): string {
  const hash = createHash('sha256')
  for (const answer of answers) hash.update(answer)
  return `${key}\n${hash.digest('base64')}`
}

/** Keeps the page that is being made, which must be the same for everybody with this key. */
export type Keeper = { key: string; keep(key: string, page: PageDocument): void }

/** Makes a page that may be kept. `make` reads through the cache that it is handed. */
export async function makeKept<Made>(
  { cache }: Pick<Deps, 'cache'>,
  make: (cache: Deps['cache'], keep: Keeper['keep']) => Promise<Made>,
): Promise<Made> {
  const making = cache.compositions(PAGE).begin(cache)
  try {
    return await make(making.cache, making.keep)
  } finally {
    making.end()
  }
}

/** What is the same for everybody may be kept by anybody, and is asked for again each time; the rest by its reader. */
export function markPage(reply: FastifyReply, isOwn: boolean): FastifyReply {
  return reply
    .header('cache-control', isOwn ? 'private, no-cache' : 'public, max-age=0, must-revalidate')
    .type('text/html; charset=utf-8')
}

/** Sends a page that is kept, in the smallest coding that its reader takes. */
export function sendKept(req: FastifyRequest, reply: FastifyReply, page: PageDocument): void {
  const coding = codingFor(req.headers['accept-encoding'])
  const etag = coding === undefined ? page.etag : codedTag(page.etag, coding)
  void markPage(reply, page.isOwn)
    .header('vary', 'accept, accept-encoding, accept-language, cookie')
    .header('etag', etag)
  const known = req.headers['if-none-match']
  if (known !== undefined && matchesEntityTag(known, page.etag)) return void reply.status(304).send()
  if (coding === undefined) return void reply.send(page.bytes)
  const bytes = page.coded(coding)
  void reply.header('content-encoding', coding)
  if (Buffer.isBuffer(bytes)) return void reply.send(bytes)
  bytes.then(
    (ready) => reply.send(ready),
    (error: Error) => reply.removeHeader('content-encoding').send(error),
  )
}
