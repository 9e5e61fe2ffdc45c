// SPDX licence expressions of projects, and the list and texts of licences.
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import parseExpression from 'spdx-expression-parse'
import { notFound, validationError } from '#lib/errors.ts'
import list from './generated/spdx-licenses.json' with { type: 'json' }

/** `start` and `end` of the compressed text in `generated/spdx-texts.br`. */
type Listed = { name: string; osiApproved: boolean; start: number; end: number }

const licenses: Readonly<Record<string, Listed>> = list.licenses
const TEXTS = join(import.meta.dirname, 'generated/spdx-texts.br')
const decompress = promisify(brotliDecompress)

/** Stored form of `ARR`, in any case. */
const ALL_RIGHTS_RESERVED = 'LicenseRef-All-Rights-Reserved'

const EXPRESSION_LENGTH_MAX = 2048
// Limits the depth of the parser. Far above any real expression.
const WORDS_MAX = 256

/** Deprecated SPDX identifiers, including `+` forms that were separate identifiers. */
const DEPRECATED: ReadonlySet<string> = new Set([
  ...list.deprecated,
  ...Object.keys(licenses).filter((id) => id.endsWith('+')),
])

const GNU_FAMILY = /^(AGPL|GFDL|GPL|LGPL)-/
const LICENSE_REF = /^(DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]*$/
const ADDITION_REF = /^(DocumentRef-[A-Za-z0-9.-]+:)?AdditionRef-[A-Za-z0-9.-]*$/

type Word = { text: string; standIn: string }

/**
 * Returns the stored form of a licence expression: single spaces, operators in upper case. Identifiers are
 * case-sensitive; operators are all upper or all lower case; `arr` in any case means All Rights Reserved.
 * @throws ApiError `validation_error` with the invalid term.
 */
export function parseLicense(text: string, field = 'license_id'): string {
  if (text.length > EXPRESSION_LENGTH_MAX)
    throw validationError(field, `must be at most ${EXPRESSION_LENGTH_MAX} characters long`)
  if (/^arr$/i.test(text)) return ALL_RIGHTS_RESERVED
  const tokens = text.match(/[()]|[^\s()]+/g) ?? []
  if (tokens.length === 0) throw validationError(field, 'must not be empty')
  if (tokens.length > WORDS_MAX) throw validationError(field, `must have at most ${WORDS_MAX} words`)
  const words = tokens.map((token, i) => checkWord(token, /^with$/i.test(tokens[i - 1] ?? ''), field))
  // The terms are checked above, and the library checks the grammar. It would accept deprecated identifiers, `Or` and
  // `ANDMIT`, so each term is replaced by a placeholder of the same kind.
  if (!isExpression(words.map((word) => word.standIn).join(' ')))
    throw validationError(field, 'is not an SPDX licence expression')
  const joined = words.map((word) => word.text).join(' ')
  return joined.replaceAll('( ', '(').replaceAll(' )', ')')
}

function checkWord(token: string, afterWith: boolean, field: string): Word {
  if (token === '(' || token === ')') return { text: token, standIn: token }
  if (/^(and|or|with)$/i.test(token)) {
    const upper = token.toUpperCase()
    if (token !== upper && token !== token.toLowerCase())
      throw validationError(field, `the operator ${token} must be all upper or all lower case`)
    return { text: upper, standIn: upper }
  }
  if (afterWith) {
    if (ADDITION_REF.test(token) || isExpression(`MIT WITH ${token}`))
      return { text: token, standIn: 'Classpath-exception-2.0' }
    throw validationError(field, `${shown(token)} is not an SPDX exception`)
  }
  if (LICENSE_REF.test(token)) return { text: token, standIn: 'LicenseRef-x' }
  if (DEPRECATED.has(token) || DEPRECATED.has(withoutPlus(token)))
    throw validationError(field, `${token} is a deprecated identifier${successorOf(withoutPlus(token))}`)
  const id = withoutPlus(token)
  // The two lists have different versions. Identifiers of both are valid, but only those of the list have texts.
  if (!isListed(id) && !isExpression(id))
    throw validationError(field, `${shown(token)} is not an SPDX licence identifier`)
  if (id !== token && GNU_FAMILY.test(id)) throw validationError(field, `${id} cannot have a +; use the -or-later form`)
  return { text: token, standIn: id === token ? 'MIT' : 'MIT+' }
}

function successorOf(id: string): string {
  const successors = [`${id}-only`, `${id}-or-later`].filter(isListed)
  return successors.length === 0 ? '' : `; use ${successors.join(' or ')}`
}

function shown(token: string): string {
  return token.length > 64 ? `${token.slice(0, 64)}…` : token
}

function withoutPlus(token: string): string {
  return token.endsWith('+') ? token.slice(0, -1) : token
}

// Checks own keys, because `constructor` is not a licence.
function isListed(id: string): boolean {
  return Object.hasOwn(licenses, id)
}

function isExpression(source: string): boolean {
  try {
    parseExpression(source)
    return true
  } catch {
    return false
  }
}

/** Returns whether an identifier refers to a licence that SPDX does not list. */
export const isReference = (id: string): boolean => LICENSE_REF.test(id)

/** A licence that operators have listed. Those that SPDX does not list have a name. */
type Own = { id: string; name?: string }
type OwnLicenses = ReadonlyMap<string, Own>

/**
 * Returns the names of the licences in a stored expression, separated by ", "; empty if it has only references to licences
 * that operators have not named.
 */
export function licenseName(expression: string, own: OwnLicenses = new Map()): string {
  return expression
    .replaceAll(/ WITH \S+|[()]/g, '')
    .split(/ (?:AND|OR) /)
    .map((id) => (isReference(id) ? own.get(id)?.name : (licenses[withoutPlus(id)]?.name ?? withoutPlus(id))))
    .filter((name) => name !== undefined)
    .join(', ')
}

/** Returns whether the first licence of a stored expression is approved by the Open Source Initiative. */
export function isOpenSource(expression: string): boolean {
  const id = withoutPlus(expression.match(/[^\s()]+/)?.[0] ?? '')
  return isListed(id) && licenses[id]?.osiApproved === true
}

/**
 * Returns all SPDX licences by identifier, including deprecated ones, which older projects can have, and the named licences
 * of operators.
 */
export function listLicenses(own: OwnLicenses = new Map()): { short: string; name: string }[] {
  const named = [...own.values()].flatMap(({ id, name }) => (name === undefined ? [] : { short: id, name }))
  return [...Object.entries(licenses).map(([short, { name }]) => ({ short, name })), ...named].sort((a, b) =>
    a.short.toLowerCase() < b.short.toLowerCase() ? -1 : 1,
  )
}

/** No two identifiers of SPDX differ only in their case. */
const BY_FOLDED_ID: ReadonlyMap<string, string> = new Map(Object.keys(licenses).map((id) => [id.toLowerCase(), id]))

export type LicenseText = { title: string; body: string }

/**
 * Returns the title and the text of a licence: a listed identifier in any case, with or without `+`, or All Rights Reserved. Reads the
 * text from disk, because all texts together have 5 MB.
 * @throws ApiError `not_found` for all other texts.
 */
export async function licenseText(id: string): Promise<LicenseText> {
  if (/^arr$/i.test(id) || id === ALL_RIGHTS_RESERVED) {
    return {
      title: 'All Rights Reserved',
      body: 'The holder of the rights keeps all of them: nobody may copy, change or pass on this work without permission.',
    }
  }
  const name = BY_FOLDED_ID.get(id.toLowerCase()) ?? BY_FOLDED_ID.get(withoutPlus(id).toLowerCase())
  const license = name === undefined ? undefined : licenses[name]
  if (license === undefined) throw notFound('license')
  const packed = Buffer.alloc(license.end - license.start)
  await using file = await open(TEXTS)
  await file.read(packed, 0, packed.length, license.start)
  return { title: license.name, body: (await decompress(packed)).toString() }
}
