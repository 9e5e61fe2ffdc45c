// Rules for text from clients: names in URLs, lengths, blank text, text that the database cannot store, and URLs.
import { validationError } from '#lib/errors.ts'

// The patterns match the input of a client, before slugs are converted to lower case. They reject `.` and `..`, because URL
// parsers remove these.

/** Project slug: 3-64 letters, digits, dots, underscores, hyphens; stored in lower case. */
export const PROJECT_SLUG_PATTERN = '^[A-Za-z0-9._-]{3,64}$'
/** Organization slug: 3-64 letters, digits, hyphens; stored in lower case. */
export const ORGANIZATION_SLUG_PATTERN = '^[A-Za-z0-9-]{3,64}$'
/** Username: 1-39 letters, digits, dots, underscores, hyphens; stored unchanged, compared without case. */
export const USERNAME_PATTERN = '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,39}$'
/** Path parameter of a project, an organization or a user: an ID, a slug or a username. */
export const NAME_PATTERN = '^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$'
/** Version number: 1-32 letters, digits and `! @ $ ( ) . + , _ " ' -` and the backtick. */
export const VERSION_NUMBER_PATTERN = '^(?!\\.{1,2}$)[A-Za-z0-9!@$().+,_"\'`-]{1,32}$'

/** `If-Match` with one revision. */
export const REVISION_PATTERN = '^"(?:0|[1-9][0-9]{0,14})"$'
/** Image of a game: a URL, or one of the files in `src/taxonomy/game-images.ts`. */
export const GAME_IMAGE_PATTERN =
  '^(?:https?://[^\\s/?#@\\\\]+(?:[/?#][^\\s\\\\]*)?|game-(?:java|bedrock)-(?:icon|banner)\\.svg)$'

/** The error of each pattern, as a predicate that follows the field name. */
export const PATTERN_WORDS: ReadonlyMap<string, string> = new Map([
  [PROJECT_SLUG_PATTERN, 'must be 3-64 letters A-Z, digits, dots, underscores or hyphens'],
  [ORGANIZATION_SLUG_PATTERN, 'must be 3-64 letters A-Z, digits or hyphens'],
  [USERNAME_PATTERN, 'must be 1-39 letters A-Z, digits, dots, underscores or hyphens, and not . or ..'],
  [VERSION_NUMBER_PATTERN, 'must be 1-32 letters A-Z, digits or any of ! @ $ ( ) . + , _ " \' - `, and not . or ..'],
  [GAME_IMAGE_PATTERN, 'must be an http or https URL, an image of Depot such as game-java-icon.svg, or null'],
  [REVISION_PATTERN, 'must be a revision in double quotes, such as "7"'],
])

export const PROJECT_SLUG = new RegExp(PROJECT_SLUG_PATTERN)
export const ORGANIZATION_SLUG = new RegExp(ORGANIZATION_SLUG_PATTERN)
export const USERNAME = new RegExp(USERNAME_PATTERN)
export const VERSION_NUMBER = new RegExp(VERSION_NUMBER_PATTERN)

/** Maximum length of a URL in characters. */
export const URL_LENGTH_MAX = 2048

/** Returns the length in Unicode code points, which all limits use. */
export function characterCount(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)
}

// Invisible: white space, control characters, and characters without a glyph (joiners, fillers, direction marks, the blank
// Braille cell).
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Whether a text has no visible character. A name of zero-width characters is blank as well. */
export function isBlank(text: string): boolean {
  return !VISIBLE.test(text)
}

/** Embeddings, overrides and isolates of direction: with them, a name looks like another name. Marks of direction are allowed. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/

/** Whether PostgreSQL can store the text, in a text column or in JSON: no NUL, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

const UNSTORABLE = 'must not contain the character NUL or half of a surrogate pair'

export type TextLimits = {
  /** Characters (code points). */
  min?: number
  max: number
  /** Whether to reject blank text. */
  visible?: boolean
  /** Whether to reject characters that reorder the text, as names of things need. */
  isName?: boolean
}

/** Returns the problem of `text` as a predicate that follows the field name; undefined if the text is valid. */
export function textProblem(text: string, limits: TextLimits): string | undefined {
  const min = limits.min ?? 0
  // A character has one or two code units, so most texts need no count.
  const length = text.length < 2 * min || text.length > limits.max ? characterCount(text) : undefined
  if (length !== undefined && length < min) return `must be at least ${min} character${min === 1 ? '' : 's'} long`
  if (length !== undefined && length > limits.max) return `must be at most ${limits.max} characters long`
  if (!isStorable(text)) return UNSTORABLE
  if (limits.visible === true && isBlank(text)) return 'must not be blank'
  if (limits.isName === true && REORDERING.test(text)) return 'must not contain characters that reorder text'
  return undefined
}

/** Returns the text. @throws ApiError `validation_error` with the field if the text exceeds its limits. */
export function checkText(text: string, field: string, limits: TextLimits): string {
  const problem = textProblem(text, limits)
  if (problem !== undefined) throw validationError(field, problem)
  return text
}

const DEPTH_MAX = 64
const SHOWN_KEY_MAX = 64

/**
 * Rejects a JSON body with a key or a value that PostgreSQL cannot store, so that no query fails because of it. Also rejects
 * more than 64 levels of nesting.
 * @throws ApiError `validation_error` with the dotted field.
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
    if (!isStorable(key)) throw validationError(below + printable(key), `is a key that ${UNSTORABLE}`)
    checkStorable(item, below + key, depth + 1)
  }
}

/** Prepares a key for an error message: replaces invalid characters with U+FFFD and truncates a long key. */
function printable(key: string): string {
  return key.slice(0, SHOWN_KEY_MAX).replaceAll('\0', '\uFFFD').toWellFormed()
}

const HOST_LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const HOST_NAME = new RegExp(`^(?=.{1,253}$)${HOST_LABEL}(?:\\.${HOST_LABEL})*$`)

/**
 * Whether the host name that the URL parser returns is a name of RFC 1123 or an IPv4 address. The parser itself accepts
 * characters such as `;` and `'`, which have a meaning in headers.
 */
export function isHostName(text: string): boolean {
  return HOST_NAME.test(text)
}

/** Returns the problem of a URL, which must be `https` without credentials and at most 2,048 characters; undefined if valid. */
export function httpsUrlProblem(text: string): string | undefined {
  if (characterCount(text) > URL_LENGTH_MAX) return `must be at most ${URL_LENGTH_MAX} characters long`
  // The URL parser removes or replaces these characters, so it would not check the stored URL.
  if (/[\s\p{Cc}\\]/u.test(text) || !isStorable(text)) return 'must not contain white space, controls or backslashes'
  if (!/^https:\/\/[^/]/i.test(text)) return 'must be an https URL'
  const url = URL.parse(text)
  if (url === null || url.hostname === '') return 'must be a valid URL'
  if (url.username !== '' || url.password !== '' || /^https:\/\/[^/?#]*@/i.test(text))
    return 'must not contain a user name or password'
  return undefined
}

/** Returns the URL. @throws ApiError `validation_error` with the field if it is not an accepted https URL. */
export function checkHttpsUrl(text: string, field: string): string {
  const problem = httpsUrlProblem(text)
  if (problem !== undefined) throw validationError(field, problem)
  return text
}
