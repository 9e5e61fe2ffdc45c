// JSON as bytes: computes its strong ETag, and joins cached entities to lists and objects without parsing them.
import { hash } from 'node:crypto'
import type { TSchema } from 'typebox'
import { ownTurn } from '#lib/concurrency/own-turn.ts'
import { invalidInput } from '#lib/errors.ts'

export function entityTag(body: string | Uint8Array): string {
  return `"${hash('sha1', body, 'base64url')}"`
}

/** Response schema of a cached value, and its JSON. */
export type EntityForm<Value, Json = { readonly bytes: Buffer; readonly etag: string }> = {
  schema: TSchema
  toJson: (value: Value) => Json
}

/** Serialised JSON. Computes the ETag on first use, because most entities are only sent in lists. */
export class JsonEntity {
  readonly bytes: Buffer
  #etag: string | undefined

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  get etag(): string {
    this.#etag ??= entityTag(this.bytes)
    return this.#etag
  }
}

/** Serialised JSON of a value of this type. `is` never exists: it carries the type. */
export type JsonOf<Value> = { readonly bytes: Buffer; readonly is?: Value }

/** Returns the value of serialised JSON: a new one in each call. */
export const viewOf = <Value>({ bytes }: JsonOf<Value>): Value => JSON.parse(bytes.toString())

/** Returns the JSON of an object with further keys. `more` is the JSON of their object. */
export const extendJson = ({ bytes }: { readonly bytes: Buffer }, more: string): Buffer =>
  Buffer.concat([bytes.subarray(0, -1), Buffer.from(`,${more.slice(1)}`)])

/**
 * Replaces the number under `key`, which must occur once, unless the present number is at least as large. Does not match
 * inside strings, where the quotes of the key would be escaped.
 */
export function withLargerNumber(json: string, key: string, value: number): string {
  const name = `"${key}":`
  const from = json.indexOf(name) + name.length
  if (from < name.length) return json
  let to = from
  while (to < json.length && json.charCodeAt(to) >= 0x30 && json.charCodeAt(to) <= 0x39) to += 1
  return Number(json.slice(from, to)) >= value ? json : json.slice(0, from) + value + json.slice(to)
}

const CLOSE_OBJECT = 0x7d

/** A serialised JSON object with an optional last key. `brief` is the object without this key. */
export class JsonEntityWithTail extends JsonEntity {
  /** Offset of the tail, which begins with the comma before its key. */
  readonly #tailAt: number
  #brief: JsonEntity | undefined

  /** `head` is the JSON before the last key, without a comma. `tail` begins with a comma and ends the object. */
  constructor(head: string, tail: string) {
    super(bytesToKeep(head + tail))
    this.#tailAt = this.bytes.length - Buffer.byteLength(tail)
  }

  /** The object without its last key, created on first use. */
  get brief(): JsonEntity {
    this.#brief ??= new JsonEntity(endObject(this.bytes.subarray(0, this.#tailAt)))
    return this.#brief
  }

  /** The `head` of the constructor. */
  get headText(): string {
    return this.bytes.toString('utf8', 0, this.#tailAt)
  }

  /** The `tail` of the constructor. */
  get tail(): string {
    return this.bytes.toString('utf8', this.#tailAt)
  }

  /** Size in memory of both forms. */
  get sizeBytes(): number {
    return this.bytes.length + this.#tailAt
  }
}

function endObject(bytes: Buffer): Buffer {
  const whole = Buffer.allocUnsafeSlow(bytes.length + 1)
  bytes.copy(whole)
  whole[bytes.length] = CLOSE_OBJECT
  return whole
}

/** Encodes text in a separate allocation. A slice of Node's buffer pool would keep the whole block in memory. */
export function bytesToKeep(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

const OPEN = 0x5b
const COMMA = 0x2c
const CLOSE = 0x5d

/** Returns the size of `joinJson` of these entities, in bytes. */
export function joinedLength(entities: readonly { bytes: Uint8Array }[]): number {
  let length = 2 + Math.max(0, entities.length - 1)
  for (const { bytes } of entities) length += bytes.length
  return length
}

/** Writes a JSON array of serialised entities to the start of `target`. */
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

/** Maximum size of a joined object, because a client can request the same large entity 1,000 times. */
const OBJECT_BYTES_MAX = 64 * 1024 * 1024

/** The value of a key: one entity or a list of entities. */
export type JsonPart<Entity> = Entity | readonly Entity[]

/** Size from which a part of a JSON object is complete, in bytes. */
export const PART_BYTES = 64 * 1024

type ObjectEntry<Entity> = { head: string; value: JsonPart<Entity>; length: number }
type JsonObject = { entries: readonly ObjectEntry<{ bytes: Uint8Array }>[]; from?: number; to?: number }

/**
 * Lays out a JSON object of serialised values.
 * @throws ApiError `invalid_input` if the object would exceed 64 MiB; then the rest of `parts` is not read.
 */
export function layOutJsonObject<Entity extends { bytes: Uint8Array }>(
  parts: Iterable<readonly [key: string, value: JsonPart<Entity>]>,
): { length: number; entries: ObjectEntry<Entity>[] } {
  const entries: ObjectEntry<Entity>[] = []
  let total = 1
  for (const [key, value] of parts) {
    const head = `${entries.length === 0 ? '{' : ','}${JSON.stringify(key)}:`
    const length = Buffer.byteLength(head) + (isList(value) ? joinedLength(value) : value.bytes.length)
    total += length
    if (total > OBJECT_BYTES_MAX)
      throw invalidInput(`The response would exceed ${OBJECT_BYTES_MAX} bytes; request fewer items`)
    entries.push({ head, value, length })
  }
  return { length: Math.max(total, 2), entries }
}

/** Yields a JSON object in parts, each created in a separate turn when it is needed. */
export async function* partsOfObject({ entries }: JsonObject): AsyncGenerator<Buffer> {
  for (let from = 0, to = 0, bytes = 1; from < entries.length; from = to, bytes = 1) {
    while (to < entries.length && bytes < PART_BYTES) bytes += entries[to++]?.length ?? 0
    await ownTurn()
    yield writeObject({ entries, from, to }, Buffer.allocUnsafe(bytes))
  }
}

/** Writes a JSON object, or some of its entries, to the start of `target`. */
export function writeObject({ entries, from = 0, to = entries.length }: JsonObject, target: Buffer): Buffer {
  if (entries.length === 0) return target.subarray(0, target.write('{}'))
  let at = 0
  for (const { head, value } of entries.slice(from, to)) {
    at += target.write(head, at)
    if (isList(value)) {
      at += joinJson(value, target.subarray(at)).length
    } else {
      target.set(value.bytes, at)
      at += value.bytes.length
    }
  }
  if (to === entries.length) target[at++] = CLOSE_OBJECT
  return target.subarray(0, at)
}

function isList<Entity>(part: JsonPart<Entity>): part is readonly Entity[] {
  return Array.isArray(part)
}
