// The pages that the routes register, as the map of pages describes them.
import type { RouteEntry } from '#platform/http/route-config.ts'
import { NOT_PAGES } from '../../../scripts/page-map/page-map.ts'

export type PageRoute = { operation: string; path: string; matches(path: string): boolean }

/** The first segments of the paths of projects and of lists. */
const TYPES = 'mod|modpack|resourcepack|shader|datapack|plugin'

/** Returns one page for each operation. Paths of the types of projects become one path. */
export function pageRoutes(routes: readonly RouteEntry[]): PageRoute[] {
  const shown = routes.filter(
    ({ method, hidden, operationId, config }) =>
      method === 'GET' &&
      hidden &&
      config.budget === 'page' &&
      !NOT_PAGES.has(operationId) &&
      !/Back$/.test(operationId),
  )
  const byOperation = Map.groupBy(shown, ({ operationId }) => operationId)
  return [...byOperation].map(([operation, same]) => ({
    operation,
    path: mapPath(same[0]?.url ?? ''),
    matches: (path) => same.some(({ url }) => patternOf(url).test(path.split('?')[0] ?? '')),
  }))
}

const mapPath = (url: string): string =>
  url.replace(new RegExp(`^/(?:${TYPES})(s?)(?=/|$)`), '/{type}$1').replace(/:(\w+)/g, '{$1}')

const patternOf = (url: string): RegExp => new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`)
