// JSON from outside, parsed once and made safe: no prototype keys, no text the database cannot hold.
import { ApiError, validationError } from '#lib/errors.ts'
import { checkStorable } from '#lib/text/text-rules.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Brackets within brackets. The parser's time for one byte grows with them. */
const DEPTH_MAX = 64
/** Far more than any request needs: a version with its 4096 dependencies has some 20,000. */
export const JSON_VALUES_MAX = 100_000
const PROTO_KEYS_MAX = 100

type JsonOptions = {
  keepProtoKeys?: boolean
  /** Values that it may hold, all levels together: parsing and checking them is what costs time. */
  maxValues?: number
  /** What an error calls it. */
  what?: string
}

/**
 * Parses a JSON body. `__proto__` keys are dropped, unless `keepProtoKeys` (strict objects refuse them by name).
 * @throws ApiError `json_error` when it is empty or not JSON, `validation_error` for NUL characters and lone
 * surrogates, which PostgreSQL text cannot hold.
 */
export function parseJson(
  bytes: Uint8Array,
  { keepProtoKeys = false, maxValues = JSON_VALUES_MAX, what = 'body' }: JsonOptions = {},
): unknown {
  refuseCostly(bytes, { maxValues, what })
  const text = decode(bytes, what)
  if (text.trim() === '') throw new ApiError('json_error', `The ${what} must be JSON and is empty`)
  const value = parse(text, { keepProtoKeys, what })
  // Escapes are the only way such characters pass the decoder, so most bodies skip the walk.
  if (/\\u0000|\\u[dD][89a-fA-F]/.test(text)) checkStorable(value)
  return value
}

function decode(bytes: Uint8Array, what: string): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new ApiError('json_error', `The ${what} is not valid UTF-8`, { cause })
  }
}

/** Looks at the brackets and commas before the parser does, which takes a second for two megabytes of `[`. */
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
    if (values > maxValues) throw tooCostly(what, `must hold at most ${maxValues} values`)
  }
}

const [QUOTE, BACKSLASH, COMMA, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\,[]{}')

function tooCostly(what: string, message: string): ApiError {
  return validationError(what.replace('part ', ''), message)
}

/** The key, any of whose characters may be spelt as an escape. */
const PROTO_KEY =
  /"(?:_|\\u005f){2}(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006f)(?:t|\\u0074)(?:o|\\u006f)(?:_|\\u005f){2}"\s*:/gi

function parse(text: string, { keepProtoKeys, what }: { keepProtoKeys: boolean; what: string }): unknown {
  try {
    const found = text.match(PROTO_KEY)?.length ?? 0
    // Objects with such a key of their own are slow to make and of no use.
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

/** Removes the key from every object; a walk of its own, since a reviver costs twenty times the parsing. */
function dropProtoKeys(root: unknown): void {
  const waiting: unknown[] = [root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__')
    for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) waiting.push(inner)
  }
}
