// Speculation rules: browsers prefetch a public page when the pointer rests on its link. The header of public pages names
// this document, so that the content policy needs no exception. https://wicg.github.io/nav-speculation/speculation-rules.html

import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import { listPath, offeredTypes, PATHS, projectSegments } from '#web/kit/paths.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'

/** Pages below a project that are forms or files. */
const NOT_BELOW_PROJECTS = ['/settings*', '/versions/new*', '/save*', '/statistics.csv', '/versions.atom']

export function speculationRules(page: PageContext, taxonomy: Taxonomy): string {
  const lists = [PATHS.search, ...offeredTypes(taxonomy).map(listPath)].flatMap((path) => [path, `${path}\\?*`])
  const projects = projectSegments(taxonomy).map((segment) => `/${segment}/*`)
  const likely = ['/', ...lists, ...projects, '/user/*', '/organization/*', '/collection/*']
  const unlikely = projectSegments(taxonomy).flatMap((segment) =>
    NOT_BELOW_PROJECTS.map((path) => `/${segment}/:slug${path}`),
  )
  const matches = (paths: readonly string[]) => ({ href_matches: paths.map((path) => pathTo(page, path)) })
  const where = {
    and: [
      matches(likely),
      { not: matches(unlikely) },
      { not: { selector_matches: '[download], .picked a, .facets a' } },
    ],
  }
  return JSON.stringify({ prefetch: [{ where, eagerness: 'moderate' }] })
}
