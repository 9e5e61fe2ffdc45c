// Rules for text that clients send: names in URLs, lengths, blank and unstorable text, addresses.
import { validationError } from '#lib/errors.ts'

// Pattern texts serve JSON Schema (`Type.String({ pattern })`) as they are; they accept what a client may type, before
// slugs are lower-cased. `.` and `..` are refused where a pattern would let them through, since every URL parser
// resolves them away and the thing so named could not be reached.

/** Project slug as typed: 3-64 letters, digits, dots, underscores, hyphens; stored in lower case. */
export const PROJECT_SLUG_PATTERN = '^[A-Za-z0-9._-]{3,64}$'
/** Organization slug as typed: 3-64 letters, digits, hyphens; stored in lower case. */
export const ORGANIZATION_SLUG_PATTERN = '^[A-Za-z0-9-]{3,64}$'
/** Username: 1-39 letters, digits, dots, underscores, hyphens; stored as typed, compared without case. */
export const USERNAME_PATTERN = '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,39}$'
/** What can stand in a path for a project, an organization or a person: an ID, a slug or a username. */
export const NAME_PATTERN = '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$'
/** Version number: 1-32 letters, digits and `! @ $ ( ) . + , _ " ' -` and the backtick. */
export const VERSION_NUMBER_PATTERN = '^(?!\\.{1,2}$)[A-Za-z0-9!@$().+,_"\'`-]{1,32}$'

/** What the patterns allow, as the end of a sentence about the field. */
export const PATTERN_WORDS: ReadonlyMap<string, string> = new Map([
  [PROJECT_SLUG_PATTERN, 'must be 3-64 letters A-Z, digits, dots, underscores or hyphens'],
  [ORGANIZATION_SLUG_PATTERN, 'must be 3-64 letters A-Z, digits or hyphens'],
  [USERNAME_PATTERN, 'must be 1-39 letters A-Z, digits, dots, underscores or hyphens, and not . or ..'],
  [VERSION_NUMBER_PATTERN, 'must be 1-32 letters A-Z, digits or any of ! @ $ ( ) . + , _ " \' - `, and not . or ..'],
])

export const PROJECT_SLUG = new RegExp(PROJECT_SLUG_PATTERN)
export const ORGANIZATION_SLUG = new RegExp(ORGANIZATION_SLUG_PATTERN)
export const USERNAME = new RegExp(USERNAME_PATTERN)
export const VERSION_NUMBER = new RegExp(VERSION_NUMBER_PATTERN)

/** Longest address anywhere, in characters. */
export const URL_LENGTH_MAX = 2048

/** Length in Unicode code points, as every limit of the specification counts; no copy of the text is made. */
export function characterCount(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i += 1) {
    if (isHighSurrogate(text.charCodeAt(i)) && isLowSurrogate(text.charCodeAt(i + 1))) {
      count -= 1
      i += 1
    }
  }
  return count
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

// Blank to a reader: white space, controls, and characters that leave nothing on the page (joiners, fillers, marks of
// direction, the blank Braille cell).
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Whether a reader would see nothing; a name made of zero-width characters is blank too. */
export function isBlank(text: string): boolean {
  return !VISIBLE.test(text)
}

/** Whether PostgreSQL can hold the text, in a text column or in JSON: no NUL, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

const UNSTORABLE = 'must not contain the character NUL or half of a surrogate pair'

export type TextLimits = {
  /** Characters (code points). */
  min?: number
  max: number
  /** Whether text that shows nothing is refused. */
  visible?: boolean
}

/** What is wrong with `text`, as the end of a sentence about its field; undefined when nothing is. */
export function textProblem(text: string, limits: TextLimits): string | undefined {
  const min = limits.min ?? 0
  // A character is one or two code units, so that most texts need no count.
  const length = text.length < 2 * min || text.length > limits.max ? characterCount(text) : undefined
  if (length !== undefined && length < min) return `must be at least ${min} character${min === 1 ? '' : 's'} long`
  if (length !== undefined && length > limits.max) return `must be at most ${limits.max} characters long`
  if (!isStorable(text)) return UNSTORABLE
  if (limits.visible === true && isBlank(text)) return 'must not be blank'
  return undefined
}

/** @throws ApiError `validation_error` naming the field when the text breaks its limits. */
export function checkText(text: string, field: string, limits: TextLimits): string {
  const problem = textProblem(text, limits)
  if (problem !== undefined) throw validationError(field, problem)
  return text
}

const DEPTH_MAX = 64
const SHOWN_KEY_MAX = 64

/**
 * Refuses a parsed JSON body that holds, as a key or a value, text which PostgreSQL cannot hold, so that no column ever
 * answers with an error of its own. Nesting beyond 64 levels is refused too.
 * @throws ApiError `validation_error` naming the place in dotted form.
 */
export function checkStorable(value: unknown, place = '', depth = 0): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) throw validationError(place, UNSTORABLE)
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth === DEPTH_MAX) throw validationError(place, `must not be nested deeper than ${DEPTH_MAX} levels`)
  const below = place === '' ? '' : `${place}.`
  for (const [key, item] of Object.entries(value)) {
    if (!isStorable(key)) throw validationError(below + printable(key), `is a key which ${UNSTORABLE}`)
    checkStorable(item, below + key, depth + 1)
  }
}

/** A key as an answer can hold it: what cannot be stored is shown as U+FFFD, and a long key is cut. */
function printable(key: string): string {
  return key.slice(0, SHOWN_KEY_MAX).replaceAll('\0', '\uFFFD').toWellFormed()
}

/** What is wrong with an address that must be `https`, without credentials, at most 2048 characters; else undefined. */
export function httpsUrlProblem(text: string): string | undefined {
  if (characterCount(text) > URL_LENGTH_MAX) return `must be at most ${URL_LENGTH_MAX} characters long`
  // The URL parser forgives these by dropping or turning them, so that what is checked is not what is stored.
  if (/[\s\p{Cc}\\]/u.test(text) || !isStorable(text)) return 'must not contain white space, controls or backslashes'
  if (!/^https:\/\/[^/]/i.test(text)) return 'must be an https address'
  const url = URL.parse(text)
  if (url === null || url.hostname === '') return 'must be a valid address'
  if (url.username !== '' || url.password !== '' || /^https:\/\/[^/?#]*@/i.test(text))
    return 'must not contain a user name or password'
  return undefined
}

/** @throws ApiError `validation_error` naming the field when the text is no acceptable https address. */
export function checkHttpsUrl(text: string, field: string): string {
  const problem = httpsUrlProblem(text)
  if (problem !== undefined) throw validationError(field, problem)
  return text
}
