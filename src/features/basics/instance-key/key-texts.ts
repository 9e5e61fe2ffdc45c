// The text forms of an Ed25519 key, and signatures with raw keys.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

const PUBLIC_PREFIX = 'whpk_'
const PRIVATE_PREFIX = 'whsk_'
const KEY_BYTES = 32
/** Identifies Ed25519 in the keys of signed notes. */
const ED25519 = 1
/** Prefix of a raw private key in PKCS #8. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Returns the public key as Standard Webhooks defines it. */
export const publicKeyText = (key: Buffer): string => `${PUBLIC_PREFIX}${key.toString('base64')}`

export const privateKeyText = (seed: Buffer): string => `${PRIVATE_PREFIX}${seed.toString('base64')}`

/** Returns the private key of a text `whsk_…`; undefined if the text is not one. */
export function parsePrivateKey(text: string): Buffer | undefined {
  const [, encoded] = /^whsk_([A-Za-z0-9+/]{43}=)$/.exec(text.trim()) ?? []
  const seed = Buffer.from(encoded ?? '', 'base64')
  return seed.length === KEY_BYTES ? seed : undefined
}

/** Returns the key in the form of a signed note (C2SP), with the URL of the instance as its name. */
export function verifierKey(baseUrl: string, key: Buffer): string {
  const { host, pathname } = new URL(baseUrl)
  const name = `${host}${pathname.replace(/\/$/, '')}/files`
  const typed = Buffer.concat([Buffer.from([ED25519]), key])
  const id = createHash('sha256').update(`${name}\n`).update(typed).digest('hex').slice(0, 8)
  return `${name}+${id}+${typed.toString('base64')}`
}

/** Returns the bytes that the previous key signs to confirm a new key. */
export const rotationText = (key: Buffer): Buffer => Buffer.from(`depot instance key\n${publicKeyText(key)}\n`)

export function publicKeyOf(seed: Buffer): Buffer {
  const { x } = createPublicKey(toKeyObject(seed)).export({ format: 'jwk' })
  return Buffer.from(x ?? '', 'base64url')
}

/** Returns a signature of 64 bytes. */
export const signWith = (seed: Buffer, bytes: Buffer): Buffer => sign(null, bytes, toKeyObject(seed))

const toKeyObject = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' })
