// JSON kept as bytes: its strong entity tag, and lists joined from entities without parsing them.
import { createHash } from 'node:crypto'
import { invalidInput } from '#lib/errors.ts'

export function entityTag(body: string | Uint8Array): string {
  return `"${createHash('sha1').update(body).digest('base64url')}"`
}

/** JSON as ready bytes. Its tag is made when it is first asked for: most entities only ever are parts of longer answers. */
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

/**
 * The same JSON with a larger number under `key`, which stands once in it; unchanged when the number is as large already.
 * Inside texts the key would have escaped quotes.
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

/** A JSON object as ready bytes whose last key may be left out: `brief` is the object without it. */
export class JsonEntityWithTail extends JsonEntity {
  /** Where in the bytes the tail begins, with the comma before its key. */
  readonly #tailAt: number
  #brief: JsonEntity | undefined

  /** `head` is the object's text up to its last key, without a comma; `tail` begins with a comma and ends the object. */
  constructor(head: string, tail: string) {
    super(bytesToKeep(head + tail))
    this.#tailAt = this.bytes.length - Buffer.byteLength(tail)
  }

  /** The object without its last key, made when it is first asked for. */
  get brief(): JsonEntity {
    this.#brief ??= new JsonEntity(endObject(this.bytes.subarray(0, this.#tailAt)))
    return this.#brief
  }

  /** The text up to the last key, as the constructor took it. */
  get headText(): string {
    return this.bytes.toString('utf8', 0, this.#tailAt)
  }

  /** The last key with its value, as the constructor took it. */
  get tail(): string {
    return this.bytes.toString('utf8', this.#tailAt)
  }

  /** Bytes kept in the end: both forms. */
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

/** Text as bytes that are kept for long: in memory of their own, not as a slice of a block that they would keep whole. */
export function bytesToKeep(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
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

/** Bytes of one answer made of many entities. The same large one may be asked for a thousand times over. */
const OBJECT_BYTES_MAX = 64 * 1024 * 1024

const EMPTY_OBJECT = '{}'
const [OPEN_OBJECT = 0, QUOTE = 0, COLON = 0] = Buffer.from('{":')
/** Brace or comma, two quotes, colon. */
const AROUND_KEY_BYTES = 4
/** Keys that need no escapes, of which each character is a byte. */
const PLAIN_KEY = /^[\w.-]*$/

/** What stands under a key: one entity, or a list of them. */
export type JsonPart<Entity> = Entity | readonly Entity[]

/**
 * A JSON object whose values are ready bytes already. Of `parts` no more are taken than an object may hold.
 * @param take gives memory of at least so many bytes, to whose beginning the object is written
 * @throws ApiError `invalid_input` when it would be larger than 64 MiB.
 */
export function joinJsonObject(
  parts: Iterable<readonly [key: string, value: JsonPart<{ bytes: Uint8Array }>]>,
  take: (bytes: number) => Buffer = Buffer.allocUnsafe,
): Buffer {
  const names: string[] = []
  const values: JsonPart<{ bytes: Uint8Array }>[] = []
  let length = EMPTY_OBJECT.length
  for (const [key, value] of parts) {
    // Texts that are put together, to be written as a whole, cost more than all else here.
    const isPlain = PLAIN_KEY.test(key)
    const name = isPlain ? key : JSON.stringify(key).slice(1, -1)
    const nameBytes = isPlain ? key.length : Buffer.byteLength(name)
    length += nameBytes + AROUND_KEY_BYTES + (isList(value) ? joinedLength(value) : value.bytes.length)
    if (length > OBJECT_BYTES_MAX) {
      throw invalidInput(`The answer would be larger than ${OBJECT_BYTES_MAX} bytes: ask for fewer at once`)
    }
    names.push(name)
    values.push(value)
  }
  const target = take(length)
  if (names.length === 0) return target.subarray(0, target.write(EMPTY_OBJECT))
  let at = 0
  for (const [index, name] of names.entries()) {
    target[at++] = index === 0 ? OPEN_OBJECT : COMMA
    target[at++] = QUOTE
    at += target.write(name, at)
    target[at++] = QUOTE
    target[at++] = COLON
    const value = values[index] ?? []
    if (isList(value)) {
      at += joinJson(value, target.subarray(at)).length
    } else {
      target.set(value.bytes, at)
      at += value.bytes.length
    }
  }
  target[at++] = CLOSE_OBJECT
  return target.subarray(0, at)
}

function isList<Entity>(part: JsonPart<Entity>): part is readonly Entity[] {
  return Array.isArray(part)
}
