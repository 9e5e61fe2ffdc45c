// Creates random permanent IDs in base62, and checks IDs that clients send.
import { randomInt } from 'node:crypto'
import { ApiError } from './errors.ts'

/** The digits of IDs and tokens, in the order of their values. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Returns a cryptographically random base62 string, without modulo bias. */
export function randomBase62(length: number): string {
  let text = ''
  for (let i = 0; i < length; i += 1) text += BASE62[randomInt(62)]
  return text
}

/** Returns a new permanent ID: 8 random base62 characters. The primary key rejects the rare duplicate. */
export function newId(): string {
  return randomBase62(8)
}

/** Pattern of an ID in a request: 1-11 base62 characters. */
export const ID_PATTERN = '^[0-9A-Za-z]{1,11}$'
const ID = new RegExp(ID_PATTERN)

/** Whether `text` has the form of an ID. */
export function isIdForm(text: string): boolean {
  return ID.test(text)
}

/**
 * Checks a path or query value that must be an ID.
 * @throws ApiError `decoding_error` with the field.
 */
export function parseId(text: string, field: string): string {
  if (isIdForm(text)) return text
  const message = 'is not a base62 identifier of 1 to 11 characters'
  throw new ApiError('decoding_error', `${field} ${message}`, { details: { field, message } })
}
