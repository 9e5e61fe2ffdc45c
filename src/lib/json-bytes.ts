// JSON kept as bytes: its strong entity tag, and lists joined from entities without parsing them.
import { createHash } from 'node:crypto'

export function entityTag(body: string | Uint8Array): string {
  return `"${createHash('sha1').update(body).digest('base64url')}"`
}

const OPEN = 0x5b
const COMMA = 0x2c
const CLOSE = 0x5d

/** How long `joinJson` of these entities is, in bytes. */
export function joinedLength(entities: readonly { bytes: Uint8Array }[]): number {
  let length = 2 + Math.max(0, entities.length - 1)
  for (const { bytes } of entities) length += bytes.length
  return length
}

/** A JSON array of entities that are ready bytes already, written to the beginning of `target`. */
export function joinJson(
  entities: readonly { bytes: Uint8Array }[],
  target: Buffer = Buffer.allocUnsafe(joinedLength(entities)),
): Buffer {
  let at = 0
  target[at++] = OPEN
  for (const { bytes } of entities) {
    if (at > 1) target[at++] = COMMA
    target.set(bytes, at)
    at += bytes.length
  }
  target[at++] = CLOSE
  return target.subarray(0, at)
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
