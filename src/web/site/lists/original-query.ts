// The query parameters of the search pages of the original service, so that links to these pages work here with another
// host. docs/contributors/site.md has a table.
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { PER_PAGE } from './list-request.ts'

/** Keys that only the original service has. */
const KEYS = ['f', 'g', 's', 'm', 'nf', 'h', 'pid']
/** Values of the original service for keys that both have. */
const VALUES: ReadonlyMap<string, RegExp> = new Map([
  ['l', /^(?:true|open_source(?:$|:|!=))/],
  ['o', /^\d+$/],
  ['e', /:|!=/],
  ['v', /:|!=/],
])
const ITEMS_MAX = 1_000_000

/** Converts the query of the original service into the query of a list; undefined for a query of this site. */
export function convertOriginalQuery(
  original: URLSearchParams,
  { loaders }: Pick<Taxonomy, 'loaders'>,
): URLSearchParams | undefined {
  const isOriginal = [...original].some(([key, value]) => KEYS.includes(key) || isOriginalValue(key, value))
  if (!isOriginal) return undefined
  const own = new URLSearchParams()
  for (const [key, value] of original) for (const [name, text] of convert(key, value, loaders)) own.append(name, text)
  const perPage = numberOf(original.get('m')) ?? PER_PAGE
  const offset = numberOf(original.get('o')) ?? ((numberOf(original.get('page')) ?? 1) - 1) * perPage
  own.set('page', String(Math.floor(Math.min(Math.max(0, offset), ITEMS_MAX) / PER_PAGE) + 1))
  return own
}

const isOriginalValue = (key: string, value: string): boolean => VALUES.get(key)?.test(value) === true

function numberOf(text: string | null): number | undefined {
  return text !== null && /^\d{1,7}$/.test(text) ? Number(text) : undefined
}

type Pair = [name: string, value: string]

function convert(key: string, value: string, loaders: ReadonlyMap<string, unknown>): Pair[] {
  switch (key) {
    case 's':
      return [['sort', value]]
    case 'h':
      return [['all', 'v']]
    case 'm':
    case 'pid':
    case 'page':
      return []
    case 'o':
      return numberOf(value) === undefined ? [[key, value]] : []
    case 'l':
      return isOriginalValue(key, value)
        ? convertFilter(value === 'true' ? 'open_source' : value, loaders)
        : [[key, value]]
    case 'nf':
      return convertFilter(value, loaders).map(([name, text]) => [name, `-${text.replace(/^-/, '')}`])
    case 'f':
    case 'g':
      return convertFilter(value, loaders)
    case 'e':
    case 'v':
      return convertFilter(
        isOriginalValue(key, value) ? value : `${key === 'v' ? 'versions' : 'environment'}:${value}`,
        loaders,
      )
    default:
      return [[key, value]]
  }
}

/** Converts one filter: `categories:magic`, `categories!=fabric`, `versions:1.21` or `open_source`. */
function convertFilter(text: string, loaders: ReadonlyMap<string, unknown>): Pair[] {
  const [start = '', field = 'categories', operator = ':'] = /^'?([a-z_]+)'?\s*(:|!=|=)/.exec(text) ?? []
  const rest = text.slice(start.length).trimStart()
  const quoted = rest.includes('\n') ? '' : rest
  const value = quoted.replace(/^'(.*)'$/, '$1')
  const sign = operator === '!=' ? '-' : ''
  if (field === 'open_source' || value === 'open_source')
    return [['o', (value === 'false') === (sign === '') ? 'closed' : 'open']]
  if (field === 'versions' || field === 'game_versions') return [['v', `${sign}${value}`]]
  if (field === 'environment') return [['e', `${sign}${value}`]]
  if (field !== 'categories' || value === '') return []
  return [[loaders.has(value) ? 'l' : 'c', `${sign}${value}`]]
}
