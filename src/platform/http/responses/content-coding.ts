// Content codings: which one a client accepts, and the compressed forms of responses (RFC 9110, 12.5.3 and 8.8.3.3).
import { pipeline, type Readable } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
} from 'node:zlib'
import { LRUCache } from 'lru-cache'

/** Supported codings of responses that are compressed on request. The one that needs the least time is first. */
export const CODINGS = ['zstd', 'br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

/** Supported codings of content that is compressed once, the smallest results first. */
export const STORED_CODINGS = ['br', 'gzip'] as const
export type StoredCoding = (typeof STORED_CODINGS)[number]

/** Smaller responses are not compressed: they fit into one packet with their headers. */
export const COMPRESS_BYTES_MIN = 1024
/** Larger responses are compressed in another thread. */
const SYNC_BYTES_MAX = 384 * 1024
const STORE_BYTES_MAX = 32 * 1024 * 1024
/** Number of recent responses that are recognized when they are requested again. */
const SEEN_MAX = 20_000
const PARSED_MAX = 500

/** `data` is JSON and other texts for programs; `page` is HTML, which is rendered for one person and takes longer anyway. */
export type ContentKind = 'data' | 'page'

/**
 * For data, the levels with the best ratio of bytes to processor time. The same content always has the same level, because
 * a strong ETag stands for the same bytes.
 */
const LEVELS: Readonly<Record<ContentKind, Readonly<Record<Coding, number>>>> = {
  data: { zstd: 1, br: 1, gzip: 1 },
  page: { zstd: 3, br: 5, gzip: 6 },
}

const zstdAt = (level: number) => ({ params: { [constants.ZSTD_c_compressionLevel]: level } })
const brotliAt = (level: number) => ({ params: { [constants.BROTLI_PARAM_QUALITY]: level } })
const gzipAt = (level: number) => ({ level, memLevel: 9 })

type Compressor = {
  now(bytes: Buffer, level: number): Buffer
  later(bytes: Buffer, level: number): Promise<Buffer>
  stream(level: number): NodeJS.ReadWriteStream
}

const COMPRESSORS: Readonly<Record<Coding, Compressor>> = {
  zstd: {
    now: (bytes, level) => zstdCompressSync(bytes, zstdAt(level)),
    later: (bytes, level) => promisify(zstdCompress)(bytes, zstdAt(level)),
    stream: (level) => createZstdCompress(zstdAt(level)),
  },
  br: {
    now: (bytes, level) => brotliCompressSync(bytes, brotliAt(level)),
    later: (bytes, level) => promisify(brotliCompress)(bytes, brotliAt(level)),
    stream: (level) => createBrotliCompress(brotliAt(level)),
  },
  gzip: {
    now: (bytes, level) => gzipSync(bytes, gzipAt(level)),
    later: (bytes, level) => promisify(gzip)(bytes, gzipAt(level)),
    stream: (level) => createGzip(gzipAt(level)),
  },
}

/** Compresses a stream. An error of the stream destroys the result with the same error. */
export function compressStream(content: Readable, coding: Coding): NodeJS.ReadWriteStream {
  return pipeline(content, COMPRESSORS[coding].stream(LEVELS.data[coding]), () => {})
}

const parsed = new Map<string, ReadonlyMap<string, number>>()

/** Returns the quality of each coding in an `Accept-Encoding` header. Ignores elements that are not valid. */
function qualitiesOf(header: string): ReadonlyMap<string, number> {
  const known = parsed.get(header)
  if (known !== undefined) return known
  const qualities = new Map<string, number>()
  for (const element of header.split(',')) {
    const [coding = '', parameter = 'q=1', ...others] = element.split(';').map((part) => part.trim())
    const quality = /^q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i.exec(parameter)?.[1]
    if (quality === undefined || others.length > 0 || !/^\S+$/.test(coding)) continue
    qualities.set(coding.toLowerCase().replace(/^x-/, ''), Number(quality))
  }
  // Old clients that accept everything know gzip.
  if (!qualities.has('gzip')) qualities.set('gzip', qualities.get('*') ?? 0)
  if (parsed.size >= PARSED_MAX) parsed.clear()
  parsed.set(header, qualities)
  return qualities
}

/** Returns the coding that the client prefers, the first one of `codings` if it has no preference; undefined for none. */
export function codingFor<C extends Coding>(
  acceptEncoding: string | string[] | undefined,
  codings: readonly C[],
): C | undefined {
  if (acceptEncoding === undefined) return undefined
  const qualities = qualitiesOf(String(acceptEncoding))
  let best: C | undefined
  let quality = 0
  for (const coding of codings) {
    const own = qualities.get(coding) ?? 0
    if (own > quality) [best, quality] = [coding, own]
  }
  return best
}

/** Returns the ETag of a compressed form, which needs its own strong ETag. */
export function codedTag(etag: string, coding: Coding): string {
  return `${etag.slice(0, -1)}-${coding}"`
}

/** The compressed forms of responses, by an ETag that depends on the content alone. */
export type CodedForms = {
  /** Returns the stored form. */
  find(tag: string, coding: Coding): Buffer | undefined
  /** Returns the compressed form, and stores it if the response was requested before. Without a tag, nothing is stored. */
  encode(tag: string | undefined, coding: Coding, bytes: Buffer, kind?: ContentKind): Buffer | Promise<Buffer>
}

export function createCodedForms(): CodedForms {
  const forms = new LRUCache<string, Buffer>({
    maxSize: STORE_BYTES_MAX,
    sizeCalculation: ({ length }) => length + 200,
  })
  const seen = new LRUCache<string, true>({ max: SEEN_MAX })
  const keyOf = (tag: string, coding: Coding): string => coding + tag
  const keep = (tag: string, coding: Coding, form: Buffer): Buffer => {
    const key = keyOf(tag, coding)
    if (!seen.has(key)) {
      seen.set(key, true)
      return form
    }
    // The result is a slice of a larger block.
    const kept = Buffer.allocUnsafeSlow(form.length)
    form.copy(kept)
    forms.set(key, kept)
    return kept
  }
  return {
    find: (tag, coding) => forms.get(keyOf(tag, coding)),
    encode: (tag, coding, bytes, kind = 'data') => {
      const compressor = COMPRESSORS[coding]
      const level = LEVELS[kind][coding]
      const isSmall = bytes.length <= SYNC_BYTES_MAX
      if (tag === undefined) return isSmall ? compressor.now(bytes, level) : compressor.later(bytes, level)
      const stored = forms.get(keyOf(tag, coding))
      if (stored !== undefined) return stored
      if (isSmall) return keep(tag, coding, compressor.now(bytes, level))
      return compressor.later(bytes, level).then((form) => keep(tag, coding, form))
    },
  }
}
