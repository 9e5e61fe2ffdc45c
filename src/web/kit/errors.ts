// The error page: every error that no form shows.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findPreviousOwner, type NamedKind } from '#features/basics/previous-names/queries.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { getOrganization } from '#features/community/organizations/organization-cache.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { ApiError } from '#lib/errors.ts'
import { escapeText } from '#lib/text/xml.ts'
import { asApiError, noteFailure } from '#platform/http/error-handler.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { isMessageKey } from '#web/ui/languages.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { slip } from '#web/ui/parts/lists.ts'
import { translateRefusal, withoutRawNames } from '#web/ui/refusals.ts'
import { organizationPath, PATHS, projectPath, projectSegments, userPath } from './paths.ts'
import { type Area, type PageRequest, readRequest, type WebDeps } from './request.ts'
import { staleFormError } from './safety.ts'

/** Leads moderators and admins whose role needs two-factor sign-in to its setup. */
const SET_UP: Area['wayOut'] = { path: PATHS.security, label: 'two-factor.set-up' }

type Failure = { area: Area; thrown: Error; req: FastifyRequest; reply: FastifyReply }

/** Renders the message in the language of the page, if there is one, otherwise in English. */
function messageOf({ language }: PageContext, { message }: ApiError): Markup {
  const translated = translateRefusal(language, message)
  return translated === undefined ? html`<p lang="en">${withoutRawNames(message)}</p>` : html`<p>${translated}</p>`
}

/** Shows an error with no more details than the API would return. If the database is unavailable, the page has no frame. */
export async function showError(web: WebDeps, { area, thrown, req, reply }: Failure): Promise<FastifyReply> {
  const error = staleFormError(thrown) ?? asApiError(thrown)
  // Without a search index, pages are unavailable only for moments, as the header Retry-After says.
  const status = error.kind === 'search_error' ? 503 : error.status
  if (status >= 500) noteFailure(web.deps.log, req, error)
  for (const [name, value] of Object.entries(error.headers ?? {})) void reply.header(name, value)
  void reply.removeHeader('etag').removeHeader('content-encoding')
  const request = await readRequest(web, req, reply, { area }).catch(() => undefined)
  if (request === undefined)
    return reply
      .status(503)
      .type('text/html; charset=utf-8')
      .send(`<!doctype html><title>503</title><p>${escapeText(error.message)}`)
  const { page, show } = request
  const moved = error.status === 404 ? await findMovedPath(request).catch(() => undefined) : undefined
  // With 308, browsers send a form again.
  if (moved !== undefined) return reply.redirect(pathTo(page, moved), req.method === 'POST' ? 308 : 301)
  const { t, rich } = page.language
  const key = `error.${status}`
  const title = t(isMessageKey(key) ? key : 'error.other')
  const { wayOut, missing } = area
  const known = status === 404 ? missing : status === 429 ? 'error.wait' : undefined
  const seconds = Number(error.headers?.['retry-after'] ?? 1)
  const out = error.details?.['two_factor_required'] === true ? SET_UP : wayOut
  const body = slip(html`<h1>${title}</h1>
${known === undefined ? messageOf(page, error) : html`<p>${t(known, { seconds })}</p>`}
${status >= 500 && html`<p class="hint">${rich('error.request', { id: html`<code>${req.id}</code>` })}</p>`}
<p><a class="button" href="${pathTo(page, out.path)}">${t(out.label)}</a></p>`)
  return show({ status, title, body, isUnlisted: true })
}

type MovedRequest = Pick<PageRequest, 'req' | 'deps' | 'viewer'>

/** Returns the path and query with the present name, if the path has a previous name of something that the viewer sees. */
async function findMovedPath({ req, deps, viewer }: MovedRequest): Promise<string | undefined> {
  const { pathname, search } = new URL(req.raw.url ?? '', 'http://local')
  const [, segment = '', named = '', ...below] = pathname.split('/')
  const kind = kindOf(segment, projectSegments(deps.taxonomy))
  if (kind === undefined) return undefined
  const suffix = /:\w+(\.\w+)$/.exec(req.routeOptions.url ?? '')?.[1] ?? ''
  const name = decodeURIComponent(named.slice(0, named.length - suffix.length))
  const id = await findPreviousOwner(deps.db, kind, name)
  if (id === undefined) return undefined
  try {
    return `${[await presentPath({ deps, viewer }, kind, id), ...below].join('/')}${suffix}${search}`
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

function kindOf(segment: string, projects: readonly string[]): NamedKind | undefined {
  if (segment === 'user') return 'account'
  if (segment === 'organization') return 'organization'
  return projects.includes(segment) ? 'project' : undefined
}

/** @throws ApiError 404 if it is hidden from the viewer */
async function presentPath(
  { deps, viewer }: Pick<PageRequest, 'deps' | 'viewer'>,
  kind: NamedKind,
  id: string,
): Promise<string> {
  switch (kind) {
    case 'project':
      return projectPath(JSON.parse((await getProject(deps, viewer, id)).bytes.toString()) as ProjectView)
    case 'organization':
      return organizationPath((await getOrganization(deps, id)).slug)
    case 'account':
      return userPath((await getCachedUser(deps, id)).username)
  }
}
