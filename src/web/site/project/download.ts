// The file of a project for scripts: an address that leads to the newest version for a loader and a game version.
import type { FastifyReply } from 'fastify'
import type { CachedProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { chooseOffered } from '#features/catalogue/resolve/choose-required.ts'
import type { VersionView } from '#features/catalogue/versions/views.ts'
import { notFound } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { serverPackPath } from '#web/kit/paths.ts'
import type { PageRequest } from '#web/kit/request.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { primaryFile, setupFilter } from './offer.ts'

/** Sends a text instead of a page, because scripts read it. */
const refuse = (reply: FastifyReply, status: 400 | 404, text: string): FastifyReply =>
  reply.status(status).header('cache-control', 'no-cache').type('text/plain; charset=utf-8').send(`${text}\n`)

/**
 * Leads to the primary file of the version that the page of the project would offer. A loader that has no meaning for the
 * project, such as one of mods for a resource pack, is ignored. Sends 404 if no version matches.
 */
export function sendDownload(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  return sendOffered(request, project, (version) => primaryFile(version)?.url)
}

/** `urlOf`: returns the URL for the version; undefined if the version has no such file. */
async function sendOffered(
  request: PageRequest,
  project: CachedProject,
  urlOf: (version: VersionView) => string | undefined,
): Promise<FastifyReply> {
  const { deps, viewer, query, reply } = request
  const [loader, gameVersion] = [query('loader'), query('game_version')]
  const { loaders, fields } = deps.taxonomy
  if (loader !== '' && !loaders.has(loader)) return refuse(reply, 400, 'loader must be a name of GET /v3/tag/loader')
  if (gameVersion !== '' && fields.get('game_versions')?.enumValues?.has(gameVersion) !== true) {
    const list = 'GET /v3/loader_field?loader_field=game_versions'
    return refuse(reply, 400, `game_version must be a value of ${list}`)
  }
  const view = viewOf(project)
  const filter = setupFilter(deps.taxonomy, { loader, gameVersion }, view.project_types)
  const offered = await chooseOffered(deps, viewer, view.id, filter)
  const url = offered === undefined ? undefined : urlOf(viewOf(offered.version))
  if (url === undefined) return refuse(reply, 404, 'No version of this project matches')
  return reply.header('cache-control', 'no-cache').redirect(url, 302)
}

/** Leads to the newest pack of a modpack, so that a launcher can read it from one address. Other projects have no pack. */
export function sendLatestPack(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  if (!viewOf(project).project_types.includes('modpack')) throw notFound('file')
  return sendDownload(request, project)
}

/** Leads to the server side of the newest pack of a modpack. */
export function sendLatestServer(request: PageRequest, project: CachedProject): Promise<FastifyReply> {
  if (!viewOf(project).project_types.includes('modpack')) throw notFound('file')
  return sendOffered(request, project, ({ id }) => pathTo(request.page, serverPackPath(id)))
}
