// Further pages of a project: gallery, dependencies, dependents; and the forms that follow and unfollow it.
import type { FastifyReply } from 'fastify'
import { followProject, unfollowProject } from '#features/catalogue/follows/follow-project.ts'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listDependents } from '#features/catalogue/versions/dependencies/dependents.ts'
import { listDependencies } from '#features/catalogue/versions/dependencies/project-dependencies.ts'
import { ApiError } from '#lib/errors.ts'
import { html } from '#platform/html/html.ts'
import { emptyState, pager } from '#platform/html/lists.ts'
import { pathTo } from '#platform/html/page-context.ts'
import { pageNumber } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { rowsOfProjects } from '../lists/row-details.ts'
import { hitList, rowOfProject } from '../lists/rows.ts'
import { galleryImage } from './gallery-image.ts'
import { loadProject } from './project-data.ts'
import { projectPage } from './project-frame.ts'
import { dependencyList } from './versions-page.ts'

/** Wide windows show two images next to each other. */
const IN_GALLERY = { sizes: '(min-width: 44rem) 38rem, 100vw', defaultSize: { width: 700, height: 394 } }

export async function showGallery(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { page, show } = request
  const { language } = page
  const data = await loadProject(request, project)
  const images = data.view.gallery.toSorted((a, b) => a.ordering - b.ordering)
  const items = images.map((image, index) => {
    const alt = image.name ?? language.t('site.picture', { number: index + 1, name: data.view.name })
    return html`<li><figure><a href="${image.raw_url}"><img${galleryImage(image, IN_GALLERY)} alt="${alt}" loading="lazy"></a>${(image.name !== null || image.description !== null) && html`<figcaption dir="auto">${image.name !== null && html`<b>${image.name}</b> `}${image.description}</figcaption>`}</figure></li>
`
  })
  const title = language.t('site.title.gallery', { name: data.view.name })
  const body = html`<div class="section-head"><h2>${language.t('site.tab.gallery')}</h2></div>
${items.length > 0 ? html`<ul class="gallery">${items}</ul>` : emptyState(page, { icon: 'image', title: language.t('site.gallery.none') })}`
  return show(projectPage(request, data, { tab: '/gallery', title, body }))
}

/** Maximum number of projects that only older versions depend on. */
const OLDER_MAX = 100

export async function showDependencies(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, viewer, page, show } = request
  const { language } = page
  const data = await loadProject(request, project)
  const current = data.offer?.dependencies ?? []
  const currentIds = new Set(current.map(({ project }) => project?.id))
  const { projects } = await listDependencies(deps, viewer, data.project.id)
  const older = projects.filter(({ id }) => !currentIds.has(id)).slice(0, OLDER_MAX)
  const title = language.t('site.title.dependencies', { name: data.view.name })
  const isEmpty = current.length === 0 && older.length === 0
  const body = html`${current.length > 0 && html`<div class="section"><h2>${language.t('site.dependencies.of', { version: data.offer?.version.version_number ?? '' })}</h2>${dependencyList(page, current)}</div>`}
${older.length > 0 && html`<div class="section-head"><h2>${language.t('site.dependencies.others')}</h2></div>${hitList({ page, taxonomy: deps.taxonomy }, await rowsOfProjects(request, older), 'h3')}`}
${isEmpty && emptyState(page, { icon: 'link', title: language.t('site.dependencies.none') })}`
  return show(projectPage(request, data, { tab: '/dependencies', title, body }))
}

const DEPENDENTS_PER_PAGE = 20

export async function showUsedBy(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  const { deps, page, show } = request
  const { language } = page
  const data = await loadProject(request, project)
  const current = pageNumber(request)
  const slice = { limit: DEPENDENTS_PER_PAGE, offset: (current - 1) * DEPENDENTS_PER_PAGE }
  const { projects, total } = await listDependents(deps, data.project.id, slice)
  const last = Math.max(1, Math.ceil(total / DEPENDENTS_PER_PAGE))
  const none = emptyState(page, {
    icon: 'users',
    title: language.t(total > 0 ? 'site.list.no-page' : 'site.used-by.none'),
  })
  const rows = await rowsOfProjects(request, projects)
  const title = language.t('site.title.used-by', { name: data.view.name })
  const body = html`<div class="section-head"><h2>${language.t('site.used-by.count', { count: total })}</h2></div>
${rows.length > 0 ? hitList({ page, taxonomy: deps.taxonomy }, rows, 'h3') : none}
${current <= last && pager(page, { current, last, href: (number) => pathTo(page, `${data.path}/used-by${number === 1 ? '' : `?page=${number}`}`) })}`
  return show(projectPage(request, data, { tab: '/used-by', title, body, status: current > last ? 404 : 200 }))
}

/** Follows or unfollows a project and leads back to it. Ignores a repeated form. */
export async function followFromPage(
  { deps, viewer, redirect, toSignIn }: PageRequest,
  project: CachedProject,
  isFollowing: boolean,
): Promise<FastifyReply> {
  const { path } = rowOfProject(project)
  if (viewer === null) return toSignIn(path)
  const act = isFollowing ? followProject(deps, viewer, project.id) : unfollowProject(deps, viewer, project.id)
  await act.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.kind !== 'invalid_input') throw error
  })
  return redirect(path)
}
