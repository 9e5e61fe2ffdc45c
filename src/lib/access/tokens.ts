// Creates, parses and compares tokens and other secrets. The database stores only their hashes, so a stolen database
// grants no access. SHA-256 without salt is sufficient because every secret has over 300 random bits.
import { hash, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { BASE62, randomBase62 } from '#lib/ids.ts'

const PREFIXES = { pat: 'dpp_', oauth: 'dpo_', session: 'dps_', publisher: 'dpt_' } as const

/** Prefix of the secret in the address of a feed, which is not a token: it only opens this feed. */
const FEED_PREFIX = 'dph_'

/** `pat`: personal access token; `oauth`: OAuth access token; `session`: session token; `publisher`: token of a build. */
export type TokenKind = keyof typeof PREFIXES

const KINDS: ReadonlyMap<string, TokenKind> = new Map(
  (Object.keys(PREFIXES) as TokenKind[]).map((kind) => [PREFIXES[kind], kind]),
)

const PREFIX_LENGTH = 4
const RANDOM_LENGTH = 54
const CHECKSUM_LENGTH = 6
const TOKEN_LENGTH = PREFIX_LENGTH + RANDOM_LENGTH + CHECKSUM_LENGTH

/** The kinds of tokens with their prefixes, for pages that describe them. */
export const TOKEN_KINDS = (Object.keys(PREFIXES) as TokenKind[]).map((kind) => ({ kind, prefix: PREFIXES[kind] }))

/** Regular expression with which scanners of secrets find tokens. The last six characters are a CRC-32 of the others. */
export const TOKEN_PATTERN = `(${[...Object.values(PREFIXES), FEED_PREFIX].join('|')})[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}`

/** Maximum length of the `Authorization` header. Depot's tokens have 64 characters; tokens of code hosts are longer. */
const AUTHORIZATION_MAX = 512

/** Creates a token of 64 characters. The user sees `token` once; the database stores `hash` (32 bytes). */
export function newToken(kind: TokenKind): { token: string; hash: Buffer } {
  return newTokenWith(PREFIXES[kind])
}

function newTokenWith(prefix: string): { token: string; hash: Buffer } {
  const body = prefix + randomBase62(RANDOM_LENGTH)
  const token = body + checksum(body)
  return { token, hash: hashToken(token) }
}

/** Creates the secret in the address of a feed. It has the length and the checksum of a token. */
export function newFeedSecret(): { secret: string; hash: Buffer } {
  const { token: secret, hash } = newTokenWith(FEED_PREFIX)
  return { secret, hash }
}

/**
 * Checks the prefix, length, alphabet and checksum of a token. Returns undefined if the text cannot be a token, so that the
 * caller needs no query.
 */
export function parseToken(text: string): { kind: TokenKind; hash: Buffer } | undefined {
  if (text.length !== TOKEN_LENGTH || !/^[a-z]{3}_[0-9A-Za-z]+$/.test(text)) return undefined
  const kind = KINDS.get(text.slice(0, PREFIX_LENGTH))
  if (kind === undefined) return undefined
  const body = text.slice(0, -CHECKSUM_LENGTH)
  if (checksum(body) !== text.slice(-CHECKSUM_LENGTH)) return undefined
  return { kind, hash: hashToken(text) }
}

/**
 * Creates a random secret of 54 base62 characters for links in emails, sign-in flows, OAuth codes and client secrets. The
 * database stores `hash`.
 */
export function newSecret(): { secret: string; hash: Buffer } {
  const secret = randomBase62(RANDOM_LENGTH)
  return { secret, hash: hashToken(secret) }
}

/** Returns the SHA-256 hash of a token or secret, as the database stores it. */
export function hashToken(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/**
 * Returns the token in an `Authorization` header, with or without `Bearer` (any case, one or more spaces) before it.
 * Returns undefined if the header is missing, has another scheme, or is not 1-512 visible ASCII characters.
 */
export function parseAuthorization(header: string | undefined): string | undefined {
  if (header === undefined || header.length > AUTHORIZATION_MAX) return undefined
  const match = /^(?:bearer +)?([\x21-\x7e]+)$/i.exec(header.trim())
  const text = match?.[1]
  // A client that lost its token sends only the scheme.
  return text === undefined || text.toLowerCase() === 'bearer' ? undefined : text
}

/** Compares two secrets in a time that does not depend on their content or length. */
export function secretsEqual(a: string, b: string): boolean {
  return timingSafeEqual(hashToken(a), hashToken(b))
}

/** Returns the CRC-32 of the text as 6 base62 digits, most significant first. 62^6 exceeds 2^32, so it always fits. */
function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = BASE62.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
