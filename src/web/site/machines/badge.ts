// Badges: small SVG images with one fact about a project, for README files and other sites.

import type { FastifyReply } from 'fastify'
import { findPreviousOwner } from '#features/basics/previous-names/queries.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listUpdates } from '#features/catalogue/versions/hashes/resolve-files.ts'
import { listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import { entityTag, viewOf } from '#lib/text/json-bytes.ts'
import { isUnchanged } from '#platform/http/responses/entity-tags.ts'
import type { Deps } from '#ports/deps.ts'
import { PROJECT_TYPES, projectSegments } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { shortNumber } from '#web/ui/format.ts'
import { DEFAULT_LANGUAGE } from '#web/ui/languages.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { termName, versionRange } from '../names.ts'
import { drawBadge } from './draw-badge.ts'

/** Badge names of the path → the label, in English, because other sites show the same image to everyone. */
export const BADGES = {
  downloads: 'downloads',
  version: 'version',
  'game-versions': 'game versions',
  loaders: 'loaders',
  licence: 'licence',
} as const
export type BadgeName = keyof typeof BADGES

export const BADGE_STYLES = ['flat', 'flat-square'] as const

/** Fill colours with a contrast of at least 4.5 to the white text. */
const COLORS = { fact: '#2e7d32', version: '#0b6aa8', none: '#6b6b6b' } as const
const CACHE_SECONDS = 300
const LOADERS_SHOWN = 4

/** Sends the badge of a public project, otherwise a badge that says "not found", with status 404. */
export async function sendBadge(request: PageRequest): Promise<FastifyReply> {
  const { deps, page, query, param, reply } = request
  const name = param('badge')
  const written = query('style')
  const style = written === '' ? BADGE_STYLES[0] : BADGE_STYLES.find((known) => known === written)
  if (style === undefined) throw invalidInput(`style must be ${BADGE_STYLES.join(' or ')}`, 'style')
  const isKnown = isBadge(name) && projectSegments(deps.taxonomy).includes(param('type'))
  const view = isKnown ? await findPublic(deps, param('slug')) : undefined
  if (isKnown && view === undefined) {
    const moved = await findPresentSlug(deps, param('slug'))
    if (moved !== undefined)
      return reply.redirect(pathTo(page, badgePath(param('type'), moved, name, { style: written })), 301)
  }
  const type = view === undefined ? undefined : otherType(view, param('type'))
  if (view !== undefined && type !== undefined && isBadge(name))
    return reply.redirect(pathTo(page, badgePath(type, view.slug, name, { style: written })), 301)
  const label = isBadge(name) ? BADGES[name] : 'badge'
  const message = view === undefined || !isBadge(name) ? undefined : await factOf(deps, view, name)
  const color = message === undefined ? COLORS.none : name === 'version' ? COLORS.version : COLORS.fact
  const fact = message ?? (view === undefined ? 'not found' : 'none')
  const svg = drawBadge({ label, fact, color, isSquare: style === 'flat-square' })
  return send(request, view === undefined ? 404 : 200, svg)
}

export function badgePath(type: string, slug: string, name: BadgeName, { style = '' } = {}): string {
  return `/badge/${type}/${encodeURIComponent(slug)}/${name}.svg${style === '' ? '' : `?style=${style}`}`
}

/** Returns the type of the project if it does not have the requested type: its pages redirect from that type, too. */
function otherType({ project_types: types }: ProjectView, requested: string): string | undefined {
  if (requested === 'project' || types.includes(requested)) return undefined
  return PROJECT_TYPES.find((type) => types.includes(type)) ?? 'project'
}

const isBadge = (name: string): name is BadgeName => Object.hasOwn(BADGES, name)

/** Returns the project as everyone sees it: other sites show the badge to everyone. */
async function findPublic(deps: Deps, slug: string): Promise<ProjectView | undefined> {
  try {
    return viewOf(await getProject(deps, null, slug))
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

async function findPresentSlug(deps: Deps, slug: string): Promise<string | undefined> {
  const id = await findPreviousOwner(deps.db, 'project', slug)
  return id === undefined ? undefined : (await findPublic(deps, id))?.slug
}

/** Returns the text of the badge from cached data; undefined if the project does not have the fact. */
async function factOf(deps: Deps, view: ProjectView, name: BadgeName): Promise<string | undefined> {
  switch (name) {
    case 'downloads':
      return shortNumber(DEFAULT_LANGUAGE, view.downloads)
    case 'version': {
      const [id] = await listUpdates(deps, [{ projectId: view.id, filter: {} }])
      const [version] = id === undefined ? [] : await listCachedVersions(deps, [id])
      return version === undefined ? undefined : viewOf(version).version_number
    }
    case 'game-versions':
      return versionRange(deps.taxonomy, textsOf(view, 'game_versions'))
    case 'loaders':
      return loadersText([...view.loaders.filter((loader) => loader !== 'mrpack'), ...textsOf(view, 'mrpack_loaders')])
    case 'licence':
      return licenceText(view.license.id)
  }
}

function textsOf(view: object, field: string): string[] {
  const value = (view as Record<string, unknown>)[field]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function loadersText(loaders: readonly string[]): string | undefined {
  if (loaders.length === 0) return undefined
  const shown = loaders.slice(0, LOADERS_SHOWN).map(termName).join(' | ')
  return loaders.length > LOADERS_SHOWN ? `${shown} | +${loaders.length - LOADERS_SHOWN}` : shown
}

const licenceText = (id: string): string => id.replaceAll('LicenseRef-', '').replaceAll(/(?<=[a-z])-(?=[A-Z])/g, ' ')

function send({ req, reply }: PageRequest, status: 200 | 404, svg: string): FastifyReply {
  void reply
    .header('cache-control', `public, max-age=${CACHE_SECONDS}`)
    .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
    // Other sites show badges.
    .header('cross-origin-resource-policy', 'cross-origin')
  if (status === 200) {
    const etag = entityTag(svg)
    void reply.header('etag', etag)
    if (isUnchanged(req, reply, etag)) return reply.send()
  }
  return reply.status(status).type('image/svg+xml; charset=utf-8').send(svg)
}
