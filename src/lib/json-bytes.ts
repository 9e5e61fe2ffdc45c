// JSON kept as bytes: its strong entity tag, and lists joined from entities without parsing them.
import { createHash } from 'node:crypto'

export function entityTag(body: string | Uint8Array): string {
  return `"${createHash('sha1').update(body).digest('base64url')}"`
}

const OPEN = Buffer.from('[')
const COMMA = Buffer.from(',')
const CLOSE = Buffer.from(']')

/** A JSON array of entities that are ready bytes already. */
export function joinJson(entities: readonly { bytes: Uint8Array }[]): Buffer {
  const parts: Uint8Array[] = [OPEN]
  for (const [index, { bytes }] of entities.entries()) {
    if (index > 0) parts.push(COMMA)
    parts.push(bytes)
  }
  parts.push(CLOSE)
  return Buffer.concat(parts)
}
