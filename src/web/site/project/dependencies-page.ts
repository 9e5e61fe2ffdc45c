// The projects that a project depends on, and those that depend on it.

import type { FastifyReply } from 'fastify'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listFirstChoices } from '#features/catalogue/resolve/choose-required.ts'
import { countDependentsByType, listDependentSlice } from '#features/catalogue/versions/dependencies/dependents.ts'
import { listDependencies } from '#features/catalogue/versions/dependencies/project-dependencies.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { MIB } from '#lib/text/sizes.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import { loadersOf } from '#taxonomy/taxonomy.ts'
import { isSet } from '#web/kit/cookies.ts'
import { offeredTypes, pageNumber, withQuery } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { emptyState, pager, segments } from '#web/ui/parts/lists.ts'
import { rowsOfProjects } from '../lists/row-details.ts'
import { hitList } from '../lists/rows.ts'
import { setupName, typesName } from '../names.ts'
import { type DependencyNode, dependencyGroups } from './dependency-list.ts'
import { type Dependency, loadDependencyLists, type Offer } from './offer.ts'
import { loadProject } from './project-data.ts'
import { projectPage } from './project-frame.ts'

/** Maximum number of projects that only older versions depend on. */
const OLDER_MAX = 100
/** Maximum number of dependencies whose own dependencies are shown. */
const TREE_MAX = 50

export async function showDependencies(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, viewer, page, setup, show, language } = request
  const data = await loadProject(request, project)
  const current = data.offer === undefined ? [] : await loadTree(request, data.offer)
  const currentIds = new Set(current.map(({ project }) => project?.id))
  const { projects } = await listDependencies(deps, viewer, data.project.id)
  const older = projects.filter(({ id }) => !currentIds.has(id)).slice(0, OLDER_MAX)
  const title = language.t('site.title.dependencies', { name: data.view.name })
  const chosenFor =
    isSet(setup) && html`<p class="soft small">${language.t('site.for', { setup: setupName(language, setup) })}</p>`
  const body = html`<div class="section-head"><h1>${data.offer === undefined ? language.t('site.tab.dependencies') : language.rich('project.dependencies.of', { version: html`<bdi>${data.offer.version.version_number}</bdi>` })}</h1>${chosenFor}</div>
${current.length > 0 ? html`<div class="section">${dependencyGroups(page, current, { heading: 'h2' })}</div>` : emptyState(page, { icon: 'link', title: language.t('site.dependencies.none') })}
${older.length > 0 && html`<div class="section-head"><h2>${language.t('site.dependencies.others')}</h2></div>${hitList({ page, taxonomy: deps.taxonomy }, await rowsOfProjects(request, older), 'h3')}`}`
  return show(projectPage(request, data, { tab: '/dependencies', title, body }))
}

/** Loads the version of each dependency and its dependencies, in a constant number of statements. */
async function loadTree(request: PageRequest, offer: Offer): Promise<DependencyNode[]> {
  const { dependencies } = offer
  const first = await withChosen(request, offer, dependencies)
  const known = first.slice(0, TREE_MAX).flatMap(({ chosen }) => chosen ?? [])
  const lists = await loadDependencyLists(request, known)
  const second = await withChosen(request, offer, lists.flat())
  const nodes = new Map(lists.flat().map((each, index) => [each, second[index] ?? each]))
  const below = new Map(known.map(({ id }, index) => [id, lists[index]?.map((each) => nodes.get(each) ?? each) ?? []]))
  return first.map((each) => ({ ...each, below: below.get(each.chosen?.id ?? '') ?? [] }))
}

/**
 * Adds the version of each dependency that users install: the version that the offer contains, and for an optional project
 * the version that its publisher or else the filter of the offer chooses.
 */
async function withChosen(
  { deps, viewer }: PageRequest,
  { chosen, filter }: Offer,
  dependencies: readonly Dependency[],
): Promise<DependencyNode[]> {
  const isOptional = ({ type, version }: Dependency): boolean => type === 'optional' && version === undefined
  const optional = dependencies.filter(isOptional).flatMap(({ project }) => project?.id ?? [])
  const found = optional.length === 0 ? [] : await listFirstChoices(deps, viewer, [...new Set(optional)], filter)
  const firsts = new Map(found.map((version) => [version.project.id, viewOf(version)]))
  return dependencies.map((each) => {
    const id = each.project?.id ?? ''
    if (each.type === 'required') return { ...each, chosen: chosen.get(id) }
    return each.type === 'optional' ? { ...each, chosen: chosen.get(id) ?? each.version ?? firsts.get(id) } : each
  })
}

const DEPENDENTS_PER_PAGE = 20
const DEPENDENT_TYPES = defineCache<RememberDefinition<Awaited<ReturnType<typeof countDependentsByType>>>>({
  name: 'dependent-types',
  contains: 'Number of projects of each type that use a project',
  maxAgeMs: MINUTE_MS,
  maxBytes: 4 * MIB,
  sizeOf: ({ byType }) => 100 * byType.size,
})

export async function showUsedBy(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, page, show, query, language } = request
  const data = await loadProject(request, project)
  const current = pageNumber(request)
  const types = offeredTypes(deps.taxonomy)
  const loadersOfTypes = types.map((type) => ({ type, loaders: loadersOf(deps.taxonomy, type) }))
  const pairs = loadersOfTypes.flatMap(({ type, loaders }) => loaders.map((loader) => [loader, type] as const))
  const { total, byType } = await deps.cache
    .remember(DEPENDENT_TYPES)
    .get(data.project.id, () => countDependentsByType(deps.dbRead, data.project.id, pairs))
  const chosen = loadersOfTypes.find(({ type }) => type === query('type') && byType.has(type))
  const projects = await listDependentSlice(deps, data.project.id, {
    limit: DEPENDENTS_PER_PAGE,
    offset: (current - 1) * DEPENDENTS_PER_PAGE,
    ...(chosen === undefined ? {} : { loaders: chosen.loaders }),
  })
  const count = chosen === undefined ? total : (byType.get(chosen.type) ?? 0)
  const last = Math.max(1, Math.ceil(count / DEPENDENTS_PER_PAGE))
  const none = emptyState(page, {
    icon: 'users',
    title: language.t(total > 0 ? 'site.list.no-page' : 'site.used-by.none'),
  })
  const rows = await rowsOfProjects(request, projects)
  const title = language.t('site.title.used-by', { name: data.view.name })
  const hrefOf = (type: string, number = 1) =>
    pathTo(page, withQuery(`${data.path}/used-by`, { type, page: number === 1 ? '' : String(number) }))
  const body = html`<div class="section-head"><h1>${language.t('site.used-by.count', { count: total })}</h1></div>
${byType.size > 1 && typeLinks(request, { byType, total, chosen: chosen?.type, hrefOf })}
${rows.length > 0 ? hitList({ page, taxonomy: deps.taxonomy }, rows, 'h2') : none}
${current <= last && pager(page, { current, last, href: (number) => hrefOf(chosen?.type ?? '', number) })}`
  return show(projectPage(request, data, { tab: '/used-by', title, body, status: current > last ? 404 : 200 }))
}

/** Shows a link for each type of dependents, with the number of projects. */
function typeLinks(
  { page, deps }: PageRequest,
  of: {
    byType: ReadonlyMap<string, number>
    total: number
    chosen: string | undefined
    hrefOf: (type: string) => string
  },
): Part {
  const { language } = page
  const { byType, total, chosen, hrefOf } = of
  const label = (name: string, count: number) => language.t('project.used-by.type', { name, count })
  const all: Markup = segments(language.t('site.types'), [
    { href: hrefOf(''), label: label(language.t('project.used-by.all'), total), isCurrent: chosen === undefined },
    ...offeredTypes(deps.taxonomy).flatMap((type) => {
      const count = byType.get(type)
      return count === undefined
        ? []
        : [{ href: hrefOf(type), label: label(typesName(language, type), count), isCurrent: chosen === type }]
    }),
  ])
  return html`<div class="narrowing">${all}</div>`
}
