// JSON from outside, parsed once and made safe: no prototype keys, no text the database cannot hold.
import { ApiError } from '#lib/errors.ts'
import { checkStorable } from '#lib/text-rules.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses a JSON body. `__proto__` keys are dropped, unless `keepProtoKeys` (strict objects refuse them by name).
 * @throws ApiError `json_error` when it is empty or not JSON, `validation_error` for NUL characters and lone
 * surrogates, which PostgreSQL text cannot hold.
 */
export function parseJson(bytes: Uint8Array, options: { keepProtoKeys?: boolean } = {}): unknown {
  const text = decode(bytes)
  if (text.trim() === '') throw new ApiError('json_error', 'A JSON body is required, and this one is empty')
  const value = parse(text, options.keepProtoKeys === true)
  // Escapes are the only way such characters pass the decoder, so most bodies skip the walk.
  if (/\\u0000|\\u[dD][89a-fA-F]/.test(text)) checkStorable(value)
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new ApiError('json_error', 'The body is not valid UTF-8', { cause })
  }
}

function parse(text: string, keepProtoKeys: boolean): unknown {
  try {
    if (keepProtoKeys || !text.includes('__proto__')) return JSON.parse(text)
    return JSON.parse(text, (key, value) => (key === '__proto__' ? undefined : value))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : ''
    throw new ApiError('json_error', `The body is not valid JSON: ${reason}`, { cause })
  }
}
