// Licences: SPDX expressions as projects name them, and the list and texts of the licences themselves.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import parseExpression from 'spdx-expression-parse'
import deprecated from 'spdx-license-ids/deprecated.json' with { type: 'json' }
import licenses from 'spdx-license-list'
import { invalidInput, notFound, validationError } from '#lib/errors.ts'

/** What `ARR`, in any case, is stored as. */
const ALL_RIGHTS_RESERVED = 'LicenseRef-All-Rights-Reserved'

const EXPRESSION_LENGTH_MAX = 2048
// A bound on the parser's depth, far above any expression in use.
const WORDS_MAX = 256

/** Identifiers that SPDX has withdrawn, with the `+` forms that were identifiers of their own. */
const DEPRECATED: ReadonlySet<string> = new Set([
  ...deprecated,
  ...Object.keys(licenses).filter((id) => id.endsWith('+')),
])

const GNU_FAMILY = /^(AGPL|GFDL|GPL|LGPL)-/
const LICENSE_REF = /^(DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]*$/
const ADDITION_REF = /^(DocumentRef-[A-Za-z0-9.-]+:)?AdditionRef-[A-Za-z0-9.-]*$/

type Word = { text: string; standIn: string }

/**
 * The form in which a licence expression is stored: single spaces, operators in upper case. Identifiers are
 * case-sensitive; operators are all upper or all lower case; `arr` in any case is All Rights Reserved.
 * @throws ApiError `validation_error` naming `field`, with the invalid word.
 */
export function parseLicense(text: string, field = 'license_id'): string {
  if (text.length > EXPRESSION_LENGTH_MAX)
    throw validationError(field, `must be at most ${EXPRESSION_LENGTH_MAX} characters long`)
  if (/^arr$/i.test(text)) return ALL_RIGHTS_RESERVED
  const tokens = text.match(/[()]|[^\s()]+/g) ?? []
  if (tokens.length === 0) throw validationError(field, 'must not be empty')
  if (tokens.length > WORDS_MAX) throw validationError(field, `must have at most ${WORDS_MAX} words`)
  const words = tokens.map((token, i) => checkWord(token, /^with$/i.test(tokens[i - 1] ?? ''), field))
  // The words are judged one by one above; the library judges the grammar that joins them. It would take deprecated
  // identifiers, `Or` and `ANDMIT`, so it sees a word of the same kind in the place of each.
  if (!isExpression(words.map((word) => word.standIn).join(' ')))
    throw validationError(field, 'is not an SPDX licence expression')
  return words
    .map((word) => word.text)
    .join(' ')
    .replaceAll('( ', '(')
    .replaceAll(' )', ')')
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
  // The two lists are of different editions: an identifier of either is one, though only the listed ones have texts.
  if (!isListed(id) && !isExpression(id))
    throw validationError(field, `${shown(token)} is not an SPDX licence identifier`)
  if (id !== token && GNU_FAMILY.test(id)) throw validationError(field, `${id} takes no +; name the -or-later form`)
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

// Own keys only: `constructor` is no licence.
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

/** Full names of the licences in a stored expression, in its order, joined with ", "; empty for references alone. */
export function licenseName(expression: string): string {
  return expression
    .replaceAll(/ WITH \S+|[()]/g, '')
    .split(/ (?:AND|OR) /)
    .filter((id) => !LICENSE_REF.test(id))
    .map((id) => licenses[withoutPlus(id)]?.name ?? withoutPlus(id))
    .join(', ')
}

/** Whether the first licence of a stored expression is approved by the Open Source Initiative. */
export function isOpenSource(expression: string): boolean {
  const id = withoutPlus(expression.match(/[^\s()]+/)?.[0] ?? '')
  return isListed(id) && licenses[id]?.osiApproved === true
}

/** Every SPDX licence, the deprecated ones included (projects from before may carry them), A-Z without regard to case. */
export function listLicenses(): { short: string; name: string }[] {
  return Object.entries(licenses)
    .map(([short, { name }]) => ({ short, name }))
    .sort((a, b) => (a.short.toLowerCase() < b.short.toLowerCase() ? -1 : 1))
}

export type LicenseText = { title: string; body: string }

/**
 * Title and full text of one licence: a listed identifier, a `+` after it ignored, or either form of All Rights
 * Reserved. Texts are read from disk one by one when asked for; the whole set takes 5 MB.
 * @throws ApiError `not_found` for an unknown identifier or a reference, `invalid_input` for what is no identifier.
 */
export async function licenseText(id: string): Promise<LicenseText> {
  if (/^arr$/i.test(id) || id === ALL_RIGHTS_RESERVED) {
    return {
      title: 'All Rights Reserved',
      body: 'The holder of the rights keeps all of them: nobody may copy, change or pass on this work without permission.',
    }
  }
  if (!/^(DocumentRef-[A-Za-z0-9.-]+:)?[A-Za-z0-9.-]+\+?$/.test(id))
    throw invalidInput('A single SPDX licence identifier is expected', 'id')
  const name = isListed(id) ? id : withoutPlus(id)
  // What reaches the file system is a key of the list, never the client's own text.
  if (!isListed(name)) throw notFound('license')
  const file = fileURLToPath(import.meta.resolve(`spdx-license-list/licenses/${name}.json`))
  const license = JSON.parse(await readFile(file, 'utf8')) as { name: string; licenseText: string }
  return { title: license.name, body: license.licenseText }
}
