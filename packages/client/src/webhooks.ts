// Verifies webhooks (Standard Webhooks 1.0.0) with WebCrypto, which browsers and servers have.

/** Headers of a request: an object with lower-case names, as in Node.js, or `Headers`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export type WebhookMessage = { type: string; timestamp: string; data: Record<string, unknown> }

export type VerifyOptions = {
  /** Maximum age of the message, and maximum time that it can be ahead. Default: 300 seconds. */
  toleranceSeconds?: number
  /** Milliseconds since 1970. Default: the present. */
  now?: number
}

/** A message that did not come from the sender, or that is too old. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError'
}

const TOLERANCE_SECONDS = 300
const ED25519 = { name: 'Ed25519' }
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/**
 * Returns the message of a webhook if one of its signatures is right.
 * @param body the exact text of the body, before any parsing.
 * @param secret the secret of the webhook (`whsec_…`), or a public key of the instance (`whpk_…`).
 * @throws WebhookVerificationError
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secret: string,
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookMessage> {
  const id = requireHeader(headers, 'webhook-id')
  const timestamp = requireHeader(headers, 'webhook-timestamp')
  const signatures = requireHeader(headers, 'webhook-signature')
  if (!/^\d{1,15}$/.test(timestamp)) throw new WebhookVerificationError('The header webhook-timestamp is not a number')
  if (Math.abs(now / 1_000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError('The message is too old, or the clocks differ')
  }
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const content = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  const { version, verify } = await openKey(secret)
  for (const signature of signatures.split(' ')) {
    const [name, value = ''] = signature.split(',')
    if (name === version && (await verify(value, content))) return JSON.parse(text) as WebhookMessage
  }
  throw new WebhookVerificationError('No signature of the message is right')
}

type Bytes = Uint8Array<ArrayBuffer>

/** Returns how signatures of this kind of key are checked. WebCrypto compares in constant time. */
async function openKey(secret: string) {
  const isPublic = secret.startsWith('whpk_')
  const bytes = decode(secret.replace(/^(whsec|whpk)_/, ''))
  if (bytes === undefined) throw new WebhookVerificationError('The secret is not whsec_ or whpk_ with base64')
  const { subtle } = globalThis.crypto
  const algorithm = isPublic ? ED25519 : HMAC
  const key = await subtle.importKey('raw', bytes, algorithm, false, ['verify'])
  return {
    version: isPublic ? 'v1a' : 'v1',
    verify: async (value: string, content: Bytes): Promise<boolean> => {
      const signature = decode(value)
      return signature !== undefined && subtle.verify(algorithm, key, signature, content)
    },
  }
}

function decode(base64: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  if (typeof value !== 'string' || value === '') throw new WebhookVerificationError(`The header ${name} is missing`)
  return value
}
