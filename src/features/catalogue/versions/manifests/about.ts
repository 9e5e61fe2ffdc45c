// The part of a manifest that describes the project: summary, licence, links and icon. It only proposes the fields of a new
// project, so that an unexpected value is ignored.

import { URL_LENGTH_MAX } from '#lib/text/text-rules.ts'
import { type About, compact, fieldsOf, textOf } from './manifest.ts'

const SUMMARY_LENGTH_MAX = 256
/** Length that is read: the longest descriptions of manifests are a few kilobytes. */
const READ_LENGTH_MAX = 4096
const LICENSE_LENGTH_MAX = 200
const PATH_LENGTH_MAX = 255
/** Levels of nested texts that are read. Those of real packs have one or two. */
const NESTED_MAX = 4

/** Returns the description, or undefined if it says nothing. */
export function aboutOf({
  summary,
  license,
  links,
  icon,
}: {
  summary?: unknown
  license?: unknown
  links?: Readonly<Record<string, unknown>>
  icon?: unknown
}): About | undefined {
  const about = compact({
    summary: summaryOf(summary),
    license: textOf(license, LICENSE_LENGTH_MAX),
    links: linksOf(links ?? {}),
    icon: iconOf(icon),
  })
  return Object.keys(about).length === 0 ? undefined : about
}

/** Returns a description as one line without the colour codes of the game. A long one ends after a word. */
function summaryOf(value: unknown): string | undefined {
  const line = plainText(value)
    .slice(0, READ_LENGTH_MAX)
    .toWellFormed()
    .replaceAll(/§./gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const text = textOf(line, READ_LENGTH_MAX)
  if (text === undefined || text.length <= SUMMARY_LENGTH_MAX) return text
  const cut = text.slice(0, SUMMARY_LENGTH_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')
  const end = cut.lastIndexOf(' ')
  return `${end > SUMMARY_LENGTH_MAX / 2 ? cut.slice(0, end) : cut}…`
}

/** Returns the text of a text component: a text, a list, or an object with `text` and `extra`. */
function plainText(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value.slice(0, READ_LENGTH_MAX)
  if (depth === NESTED_MAX) return ''
  if (Array.isArray(value))
    return value
      .slice(0, 64)
      .map((part) => plainText(part, depth + 1))
      .join('')
  const { text, extra } = fieldsOf(value)
  return text === undefined ? '' : `${plainText(text, depth + 1)}${plainText(extra, depth + 1)}`
}

function linksOf(links: Readonly<Record<string, unknown>>): Record<string, string> | undefined {
  const known = Object.entries(links).flatMap(([platform, value]) => {
    const url = textOf(value, URL_LENGTH_MAX)
    return url === undefined ? [] : [[platform, url] as const]
  })
  return known.length === 0 ? undefined : Object.fromEntries(known)
}

/** Returns the entry of an icon: a path, or the one of the largest size (`{ "64": "icon.png" }`). */
function iconOf(value: unknown): string | undefined {
  const [largest] = Object.entries(fieldsOf(value)).toSorted(([a], [b]) => (Number(b) || 0) - (Number(a) || 0))
  const path = textOf(typeof value === 'string' ? value : largest?.[1], PATH_LENGTH_MAX)
  return path?.replace(/^\.?\/+/, '') || undefined
}

/** Returns the links of `contact`, whose keys Fabric and Quilt recommend. */
export function contactLinks(contact: unknown): Record<string, unknown> {
  const { homepage, sources, issues, discord } = fieldsOf(contact)
  return { site: homepage, source: sources, issues, discord }
}

/** Returns a single value: of a list with one entry, the entry. Several licences do not say how they combine. */
export const singleOf = (value: unknown): unknown => (Array.isArray(value) && value.length === 1 ? value[0] : value)
