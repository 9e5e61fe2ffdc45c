// Addresses of the site. The canonical one of a thing is made here and nowhere else.
import type { Feed } from '#platform/html/layout.ts'
import type { Taxonomy } from '#platform/taxonomy/taxonomy.ts'

/** The types of projects that have lists of their own, in the order of the tabs. */
export const PROJECT_TYPES = ['mod', 'modpack', 'resourcepack', 'shader', 'datapack', 'plugin'] as const
export type ProjectType = (typeof PROJECT_TYPES)[number]

export const SEARCH = '/search'

/** The types that this instance knows. */
export function offeredTypes(taxonomy: Taxonomy): ProjectType[] {
  return PROJECT_TYPES.filter((type) => taxonomy.projectTypes.includes(type))
}

/** The list of a type. */
export function listPath(type: ProjectType | undefined): string {
  return type === undefined ? SEARCH : `/${type}s`
}

/** Where a project's pages are; one without versions has no type yet. */
export function projectPath({ slug, types }: { slug: string; types: readonly string[] }): string {
  const type = PROJECT_TYPES.find((known) => types.includes(known)) ?? 'project'
  return `/${type}/${encodeURIComponent(slug)}`
}

export function versionPath(project: string, { id, number }: { id: string; number: string }): string {
  // A number with a slash or of dots alone would be another address.
  return `${project}/version/${/^\.*$|[/\\]/.test(number) ? id : encodeURIComponent(number)}`
}

export const userPath = (name: string): string => `/user/${encodeURIComponent(name)}`
export const organizationPath = (name: string): string => `/organization/${encodeURIComponent(name)}`
export const collectionPath = (id: string): string => `/collection/${id}`

export const REPORT = '/report'
export const reportPath = (item: string, id: string): string => withQuery(REPORT, { item, id })

/** The feed of what an address shows: `/mods?c=magic` as `/mods.atom?c=magic`. */
export function feedPath(address: string, format: 'atom' | 'json' = 'atom'): string {
  return address.replace(/^[^?]+/, (path) => `${path}.${format}`)
}

/** The feeds of an address in both formats, as heads announce them. */
export function feedLinks(address: string, title: string): Feed[] {
  return [
    { path: feedPath(address), title, type: 'application/atom+xml' },
    { path: feedPath(address, 'json'), title, type: 'application/feed+json' },
  ]
}

/** A path with what of the query is not empty. */
export function withQuery(
  path: string,
  values: Readonly<Record<string, string | readonly string[] | undefined>>,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values))
    for (const one of [value].flat()) if (one !== undefined && one !== '') query.append(name, one)
  return query.size === 0 ? path : `${path}?${query}`
}
