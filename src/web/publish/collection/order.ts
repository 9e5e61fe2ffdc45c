// Edits of an ordered list of IDs: moved and added items, and items that a user pasted as IDs, slugs or URLs.
import { NAME_PATTERN } from '#lib/text/text-rules.ts'
import { PROJECT_TYPES } from '#web/kit/paths.ts'

/** Returns the list after items have moved to these places, from 0. Items with the same place keep their order. */
export function placed(list: readonly string[], places: ReadonlyMap<string, number>): string[] {
  const moved = list.filter((id) => places.has(id)).sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
  const result = list.filter((id) => !places.has(id))
  let last = -1
  for (const id of moved) {
    last = Math.max(places.get(id) ?? 0, last + 1)
    result.splice(last, 0, id)
  }
  return result
}

const NAME = new RegExp(NAME_PATTERN)
const PROJECT_SEGMENTS: ReadonlySet<string> = new Set([...PROJECT_TYPES, 'project'])
const API_SEGMENTS: ReadonlySet<string> = new Set(['v2', 'v3'])

/**
 * Returns the ID or slug of the project that a line names: as it is, or in a URL of this instance. Returns undefined if
 * the line has neither form.
 */
export function projectNameIn(line: string, siteUrl: string): string | undefined {
  const text = line.trim()
  if (NAME.test(text)) return text
  const site = new URL(siteUrl)
  const address = text.startsWith('/') ? `${site.origin}${text}` : text.includes('://') ? text : `https://${text}`
  const url = URL.parse(address)
  if (url === null || url.host !== site.host) return undefined
  const base = site.pathname.replace(/\/$/, '')
  if (!url.pathname.startsWith(`${base}/`)) return undefined
  const segments = url.pathname.slice(base.length + 1).split('/')
  const [kind = '', name = ''] = API_SEGMENTS.has(segments[0] ?? '') ? segments.slice(1) : segments
  return PROJECT_SEGMENTS.has(kind) && NAME.test(name) ? name : undefined
}

/** Returns the lines that are not blank, without repetitions. */
export const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
]
