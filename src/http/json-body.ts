// JSON from outside, parsed once and made safe: no prototype keys, no text the database cannot hold.
import { ApiError } from '#lib/errors.ts'
import { checkStorable } from '#lib/text-rules.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

type JsonOptions = {
  keepProtoKeys?: boolean
  /** What an error calls it. */
  what?: string
}

/**
 * Parses a JSON body. `__proto__` keys are dropped, unless `keepProtoKeys` (strict objects refuse them by name).
 * @throws ApiError `json_error` when it is empty or not JSON, `validation_error` for NUL characters and lone
 * surrogates, which PostgreSQL text cannot hold.
 */
export function parseJson(bytes: Uint8Array, { keepProtoKeys = false, what = 'body' }: JsonOptions = {}): unknown {
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

function parse(text: string, { keepProtoKeys, what }: Required<JsonOptions>): unknown {
  try {
    // Any of the key's characters may be spelt as an escape.
    if (keepProtoKeys || !/__proto__|\\u00(?:5f|6f|7[024])/i.test(text)) return JSON.parse(text)
    return JSON.parse(text, (key, value) => (key === '__proto__' ? undefined : value))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : ''
    throw new ApiError('json_error', `The ${what} is not valid JSON: ${reason}`, { cause })
  }
}
