// Permanent identifiers: base62 text, made at random, and the checks for identifiers that clients send.
import { randomInt } from 'node:crypto'
import { ApiError } from './errors.ts'

/** The digits of identifiers and tokens, in the order of their values. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A cryptographically random base62 text of `length` characters, without modulo bias. */
export function randomBase62(length: number): string {
  let text = ''
  for (let i = 0; i < length; i += 1) text += BASE62[randomInt(62)]
  return text
}

/** A new permanent identifier: 8 random base62 characters; the primary key settles the (rare) collision. */
export function newId(): string {
  return randomBase62(8)
}

/** An identifier as clients may send it: 1-11 base62 characters. */
export const ID_PATTERN = '^[0-9A-Za-z]{1,11}$'
const ID = new RegExp(ID_PATTERN)

/** Whether `text` has the form of an identifier. */
export function isIdForm(text: string): boolean {
  return ID.test(text)
}

/**
 * Checks a path or query value where only an ID is allowed.
 * @throws ApiError `decoding_error` naming the value's field.
 */
export function parseId(text: string, field: string): string {
  if (isIdForm(text)) return text
  const message = 'is not a base62 identifier of 1 to 11 characters'
  throw new ApiError('decoding_error', `${field} ${message}`, { details: { field, message } })
}
