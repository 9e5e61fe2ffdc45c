// Tokens and other secrets: how they are made, recognized and compared. Only their hashes are stored, so a stolen
// database opens nothing. SHA-256 without salt is enough because every secret here has over 300 random bits.
import { createHash, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { BASE62, randomBase62 } from '#lib/ids.ts'

const PREFIXES = { pat: 'dpp_', oauth: 'dpo_', session: 'dps_' } as const

/** `pat` personal access token, `oauth` OAuth access token, `session` a sign-in. */
export type TokenKind = keyof typeof PREFIXES

const KINDS: ReadonlyMap<string, TokenKind> = new Map(
  (Object.keys(PREFIXES) as TokenKind[]).map((kind) => [PREFIXES[kind], kind]),
)

const PREFIX_LENGTH = 4
const RANDOM_LENGTH = 54
const CHECKSUM_LENGTH = 6
const TOKEN_LENGTH = PREFIX_LENGTH + RANDOM_LENGTH + CHECKSUM_LENGTH

/** The longest `Authorization` value that is looked at; Depot's own tokens have 64 characters, a code host's more. */
const AUTHORIZATION_MAX = 512

/** Makes a token of 64 characters. `token` is shown once, `hash` (32 bytes) is what is stored. */
export function newToken(kind: TokenKind): { token: string; hash: Buffer } {
  const body = PREFIXES[kind] + randomBase62(RANDOM_LENGTH)
  const token = body + checksum(body)
  return { token, hash: hashToken(token) }
}

/**
 * Recognizes a token offline: prefix, length, alphabet and checksum. `undefined` means that no such token was ever
 * made, so that no lookup is needed. The work is bounded by the token's length, whatever the text.
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
 * Makes an unguessable secret of 54 base62 characters for everything that is no token: flows in mails and sign-ins,
 * OAuth codes and client secrets. `hash` is what is stored.
 */
export function newSecret(): { secret: string; hash: Buffer } {
  const secret = randomBase62(RANDOM_LENGTH)
  return { secret, hash: hashToken(secret) }
}

/** SHA-256 of a token or secret: 32 bytes, as stored and looked up. */
export function hashToken(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}

/**
 * The token text in an `Authorization` header, sent raw or as `Bearer <token>` (any case, one or more spaces).
 * `undefined` when there is none, or another scheme, or something that can be no token: other than 1-512 visible
 * ASCII characters.
 */
export function parseAuthorization(header: string | undefined): string | undefined {
  if (header === undefined || header.length > AUTHORIZATION_MAX) return undefined
  const match = /^(?:bearer +)?([\x21-\x7e]+)$/i.exec(header.trim())
  const text = match?.[1]
  // The scheme's word alone is a header whose token got lost.
  return text === undefined || text.toLowerCase() === 'bearer' ? undefined : text
}

/** Compares two secrets in a time that tells neither their content nor their length. */
export function secretsEqual(a: string, b: string): boolean {
  return timingSafeEqual(hashToken(a), hashToken(b))
}

/** CRC-32 of the text in six base62 digits, most significant first; 62^6 is above 2^32, so it always fits. */
function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = BASE62.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
