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

/** A JSON object whose values are ready bytes already. */
export function joinJsonObject(entries: Iterable<readonly [key: string, value: { bytes: Uint8Array }]>): Buffer {
  const parts: Uint8Array[] = []
  for (const [key, { bytes }] of entries) {
    parts.push(Buffer.from(`${parts.length === 0 ? '{' : ','}${JSON.stringify(key)}:`), bytes)
  }
  if (parts.length === 0) parts.push(Buffer.from('{'))
  parts.push(Buffer.from('}'))
  return Buffer.concat(parts)
}
