// Parses JSON from clients, without `__proto__` keys and without text that the database cannot store.
import { ApiError, validationError } from '#lib/errors.ts'
import { mayContainMark, removeMarks } from '#lib/text/byte-order-mark.ts'
import { checkStorable } from '#lib/text/text-rules.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Maximum nesting. The parser's time per byte grows with the nesting. */
const DEPTH_MAX = 64
/** Maximum number of values. The largest valid body has about 20,000. */
export const JSON_VALUES_MAX = 100_000
const PROTO_KEYS_MAX = 100

type JsonOptions = {
  keepProtoKeys?: boolean
  /** Maximum number of values on all levels, because they determine the time of parsing and checking. */
  maxValues?: number
  /** Name of the JSON in errors. Default: body. */
  what?: string
}

/**
 * Parses a JSON body. Removes byte order marks, and `__proto__` keys unless `keepProtoKeys` is set, for schemas that reject them by name.
 * @throws ApiError `json_error` if the body is empty or not JSON; `validation_error` for too many values or levels, and for
 * NUL characters and lone surrogates, which PostgreSQL cannot store.
 */
export function parseJson(
  bytes: Uint8Array,
  { keepProtoKeys = false, maxValues = JSON_VALUES_MAX, what = 'body' }: JsonOptions = {},
): unknown {
  refuseCostly(bytes, { maxValues, what })
  const text = decode(bytes, what)
  if (text.trim() === '') throw new ApiError('json_error', `The ${what} is empty; it must be JSON`)
  const value = parse(text, { keepProtoKeys, what })
  // Only escapes can contain such characters, because the decoder rejects the others. Most bodies need no check.
  if (/\\u0000|\\u[dD][89a-fA-F]/.test(text)) checkStorable(value)
  return mayContainMark(text) ? removeMarks(value) : value
}

function decode(bytes: Uint8Array, what: string): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new ApiError('json_error', `The ${what} is not valid UTF-8`, { cause })
  }
}

/** Counts brackets and commas before the parser runs, which takes a second for 2 MB of `[`. */
function refuseCostly(bytes: Uint8Array, { maxValues, what }: { maxValues: number; what: string }): void {
  let depth = 0
  let values = 1
  let isText = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (isText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (byte === COMMA) values += 1
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      values += 1
      depth += 1
      if (depth > DEPTH_MAX) throw tooCostly(what, `must not be nested deeper than ${DEPTH_MAX} levels`)
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1
    if (values > maxValues) throw tooCostly(what, `must contain at most ${maxValues} values`)
  }
}

const [QUOTE, BACKSLASH, COMMA, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\,[]{}')

function tooCostly(what: string, message: string): ApiError {
  return validationError(what.replace('part ', ''), message)
}

/** Matches the key `__proto__`, in which any character can be an escape. */
const PROTO_KEY =
  /"(?:_|\\u005f){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006f)(?:t|\\u0074)(?:o|\\u006f)(?:_|\\u005f){2}"\s*:/gi

function parse(text: string, { keepProtoKeys, what }: { keepProtoKeys: boolean; what: string }): unknown {
  try {
    const found = text.match(PROTO_KEY)?.length ?? 0
    // Objects with such a key are slow to create, and no client needs them.
    if (found > PROTO_KEYS_MAX) throw tooCostly(what, `must have at most ${PROTO_KEYS_MAX} keys __proto__`)
    const value: unknown = JSON.parse(text)
    if (found > 0 && !keepProtoKeys) dropProtoKeys(value)
    return value
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    const reason = cause instanceof Error ? cause.message : ''
    throw new ApiError('json_error', `The ${what} is not valid JSON: ${reason}`, { cause })
  }
}

/** Removes the key from every object. A reviver would take 20 times as long as the parser. */
function dropProtoKeys(root: unknown): void {
  const waiting: unknown[] = [root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__')
    for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) waiting.push(inner)
  }
}
