// The map of the pages of the web site and the operations that no page offers, as the routes declare them. Tests check it, and
// `npm run gen` writes it into docs/contributors/pages.md.
import type { RouteEntry } from '#platform/http/route-config.ts'

export type MappedPage = {
  /** Operation ID of the route. */
  operation: string
  /** Path, where `{type}` stands for each type of project. */
  path: string
  /** The users who can open the page. Others are led to sign in, or get 404. */
  who: 'everyone' | 'signed-in users' | 'members' | 'moderators' | 'operators'
  /** Empty if the path says it. */
  shows: string
  api: readonly string[]
  matches(path: string): boolean
}

/** The first segments of the paths of projects and of lists. */
const TYPES = 'mod|modpack|resourcepack|shader|datapack|plugin'
const WHO = { user: 'signed-in users', moderator: 'moderators', admin: 'operators' } as const

/** Returns whether a route answers a GET with a page. A path with an extension leads to a file. */
const isPage = ({ method, url, config: { page } }: RouteEntry): boolean =>
  method === 'GET' && page !== undefined && page.shows !== false && !/\.\w+$/.test(url)

/** Returns one page per operation. Paths of the types of projects become one path. */
export function pageMap(routes: readonly RouteEntry[]): MappedPage[] {
  const byOperation = Map.groupBy(routes.filter(isPage), ({ operationId }) => operationId)
  return [...byOperation].flatMap(([operation, same]) => {
    const [{ url, config }] = same as [RouteEntry]
    const { page } = config
    const path = url.replace(new RegExp(`^/(?:${TYPES})(s?)(?=/|$)`), '/{type}$1').replace(/:(\w+)/g, '{$1}')
    const who = page?.role === undefined ? 'everyone' : WHO[page.role]
    return {
      operation,
      path,
      who: who === 'signed-in users' && /^\/(?:\{type\}|organization)\//.test(path) ? 'members' : who,
      shows: page?.shows === false ? '' : (page?.shows ?? ''),
      api: page?.api?.split(' ') ?? [],
      matches: (sample: string) => same.some((route) => patternOf(route.url).test(sample.split('?')[0] ?? '')),
    }
  })
}

const patternOf = (url: string): RegExp => new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`)

/** Returns the pages by area of the web site. */
export function areasOf(pages: readonly MappedPage[]): Map<string, MappedPage[]> {
  const area = ({ path, who }: MappedPage): string => {
    if (path.startsWith('/account')) return 'Account'
    if (path.startsWith('/moderation')) return 'Moderators'
    if (path.startsWith('/operator')) return 'Operators'
    return who === 'everyone' ? 'Public site' : 'Publishers'
  }
  return Map.groupBy(pages, area)
}

/** Returns the operations of the current API that no page offers, by the reason that their routes declare. */
export function operationsWithoutPage(routes: readonly RouteEntry[]): Map<string, string[]> {
  const reasons = new Map<string, string[]>()
  for (const { operationId, method, config, hidden, url, schema } of routes) {
    const query = schema.querystring as { properties?: object } | undefined
    const takesIds = method === 'GET' && Object.hasOwn(query?.properties ?? {}, 'ids')
    const reason = takesIds ? 'Returns several items by ID; pages show lists' : config.withoutPage
    if (reason === undefined || hidden || url.startsWith('/v2/')) continue
    reasons.set(reason, [...(reasons.get(reason) ?? []), operationId])
  }
  return reasons
}
