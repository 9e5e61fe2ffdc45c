// Routes that serve the files of a version or a collection, with their dependencies, as one ZIP archive.

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { viewerWith } from '#features/basics/authentication/access-control.ts'
import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import { completeFilter } from '#features/catalogue/resolve/choose-required.ts'
import { DEFAULT_NAME } from '#features/catalogue/resolve/locks/pack.ts'
import { getLockFiles } from '#features/catalogue/resolve/locks/store-lock.ts'
import { LockParams } from '#features/catalogue/resolve/requests.ts'
import { listUpdates } from '#features/catalogue/versions/hashes/resolve-files.ts'
import { filterOfQuery } from '#features/catalogue/versions/lookup/list-requests.ts'
import { getVersion, listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { listCollections } from '#features/community/collections/queries.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { IdParams, parseIds } from '#platform/http/query-values.ts'
import { sendRaw } from '#platform/http/responses/declared-responses.ts'
import { isUnchanged } from '#platform/http/responses/entity-tags.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import { attachment } from '../attachment.ts'
import { chooseModpackServer } from '../modpack/server-side.ts'
import { type DownloadDeps, recordDownload } from '../record-download.ts'
import { CollectionArchiveQuery, VersionArchiveQuery } from '../requests.ts'
import { type Archive, chooseFiles } from './choose-files.ts'
import { chooseServerFiles } from './server-pack.ts'
import { writeArchive } from './write-archive.ts'

const ABOUT =
  'Streams a ZIP archive without further compression, with at most 512 files and 4 GiB. Counts as a download of each ' +
  'version in it. Omits dependencies that the caller cannot see or that have no matching version.'
const produces = ['application/zip']

export function archiveRoutes(app: App, deps: DownloadDeps): void {
  versionArchive(app, deps)
  collectionArchive(app, deps)
  serverArchive(app, deps)
  modpackServerArchive(app, deps)
}

function versionArchive(app: App, deps: DownloadDeps): void {
  app.get('/v3/version/:id/archive', {
    config: {
      isTransfer: true,
      auth: { read: ['VERSION_READ'] },
      limitedTokens: 'versions',
      cost: COSTS.archive,
      errors: ['304', '500 file_hosting_error'],
    },
    schema: {
      operationId: 'downloadVersionArchive',
      summary: 'Download the files of a version and of its dependencies as one archive',
      description: `${ABOUT} Default of \`loaders\` and \`game_versions\`: those of the version.`,
      params: IdParams,
      querystring: VersionArchiveQuery,
      produces,
      response: {},
    },
    handler: async (req, reply) => {
      const { files, dependencies = false, ...filter } = req.query
      const version = await getVersion(deps, req.viewer, parseId(req.params.id, 'id'))
      const view = viewOf(version)
      const archive = await chooseFiles(deps, req.viewer, {
        versions: [version],
        files: files === undefined ? 'all' : parseIds(files, 'files'),
        requires: dependencies
          ? { filter: completeFilter(deps, filterOfQuery(filter, deps.taxonomy), view) }
          : undefined,
      })
      const [project] = await listVisibleProjects(deps, req.viewer, [version.project.id])
      return sendArchive(deps, req, reply, { archive, name: `${project?.slug}-${view.version_number}.zip` })
    },
  })
}

function collectionArchive(app: App, deps: DownloadDeps): void {
  const scopes = ['COLLECTION_READ', 'PROJECT_READ', 'VERSION_READ'] as const
  app.get('/v3/collection/:id/archive', {
    config: {
      isTransfer: true,
      auth: { read: scopes },
      limitedTokens: 'anonymous',
      cost: COSTS.archive,
      errors: ['304'],
    },
    schema: {
      operationId: 'downloadCollectionArchive',
      summary: 'Download the projects of a collection as one archive',
      description: `Contains the primary file of the newest version of each project that matches \`loaders\` and \`game_versions\`. ${ABOUT}`,
      params: IdParams,
      querystring: CollectionArchiveQuery,
      produces,
      response: {},
    },
    handler: async (req, reply) => {
      const viewer = viewerWith(req.viewer, scopes)
      const { dependencies = false, ...filterQuery } = req.query
      const [collection] = await listCollections(deps.db, viewer, [parseId(req.params.id, 'id')])
      if (collection === undefined) throw notFound('collection')
      const filter = filterOfQuery(filterQuery, deps.taxonomy)
      const projects = await listVisibleProjects(deps, viewer, collection.projects)
      const checks = projects.map(({ id }) => ({ projectId: id, filter }))
      const ids = (await listUpdates(deps, checks)).flatMap((id) => id ?? [])
      const archive = await chooseFiles(deps, viewer, {
        versions: await listCachedVersions(deps, ids),
        files: 'primary',
        requires: dependencies ? { filter } : undefined,
      })
      return sendArchive(deps, req, reply, { archive, name: `${collection.name}.zip` })
    },
  })
}

function serverArchive(app: App, deps: DownloadDeps): void {
  app.get('/v3/lock/:id/server.zip', {
    config: {
      isTransfer: true,
      auth: 'public',
      cost: COSTS.archive,
      errors: ['304', '409 conflict', '500 file_hosting_error'],
    },
    schema: {
      operationId: 'downloadLockServer',
      summary: 'Download the files of a stored answer that a server needs',
      description:
        'Streams a ZIP archive with the files that run on a server, in the folders of the pack, and a text about how to ' +
        'install and start the loader, which the archive does not contain. It has at most 512 files and 4 GiB. Counts as a ' +
        'download of each version in it.',
      params: LockParams,
      produces,
      response: {},
    },
    handler: async (req, reply) => {
      const lock = await getLockFiles(deps, req.params.id)
      const archive = await chooseServerFiles(deps, lock)
      return sendArchive(deps, req, reply, { archive, name: `${lock.target.name ?? DEFAULT_NAME}-server.zip` })
    },
  })
}

function modpackServerArchive(app: App, deps: DownloadDeps): void {
  app.get('/v3/version/:id/server.zip', {
    config: {
      isTransfer: true,
      auth: { read: ['VERSION_READ'] },
      limitedTokens: 'versions',
      cost: COSTS.archive,
      errors: ['304', '500 file_hosting_error', '503'],
    },
    schema: {
      operationId: 'downloadVersionServer',
      summary: 'Download the server side of a modpack',
      description:
        'Streams a ZIP archive with the files of the index of the primary file that a server needs and that are public here, ' +
        'the content of `overrides` and `server-overrides`, and a text about how to install and start the loader, which lists all ' +
        'other files. It has at most 512 files of other projects and 4 GiB. Counts as a download of each version in it.',
      params: IdParams,
      produces,
      response: {},
    },
    handler: async (req, reply) => {
      const version = await getVersion(deps, req.viewer, parseId(req.params.id, 'id'))
      const archive = await chooseModpackServer(deps, version, req.viewer?.caller ?? req.clientAddress)
      const [project] = await listVisibleProjects(deps, req.viewer, [version.project.id])
      const name = `${project?.slug}-${viewOf(version).version_number}-server.zip`
      return sendArchive(deps, req, reply, { archive, name })
    },
  })
}

async function sendArchive(
  deps: DownloadDeps,
  req: FastifyRequest,
  reply: FastifyReply,
  { archive, name }: { archive: Archive; name: string },
): Promise<never> {
  const { files, etag } = archive
  void reply
    .header('etag', etag)
    // A dependency can get a newer version at any time.
    .header('cache-control', `${req.viewer === null ? 'public' : 'private'}, max-age=0, must-revalidate`)
    .header('x-content-type-options', 'nosniff')
    .header('content-disposition', attachment(name.replace(/[/\\:]/g, '_')))
  if (isUnchanged(req, reply, etag)) return sendRaw(reply)
  await deps.files.assertAvailable()
  // Once the response has started, a missing file can only truncate it.
  if ((await deps.files.stat(files[0]?.storageKey ?? '')) === undefined)
    throw new ApiError('file_hosting_error', 'The file is missing from the store')
  const { stream, sizeBytes } = writeArchive(deps.files, archive)
  void reply.type('application/zip').header('content-length', sizeBytes)
  if (req.method === 'HEAD') {
    stream.destroy()
    return sendRaw(reply, Readable.from([]))
  }
  await countDownloads(deps, req, archive)
  return sendRaw(reply, stream)
}

async function countDownloads(deps: DownloadDeps, req: FastifyRequest, { versions }: Archive): Promise<void> {
  const { loaders, game_versions } = req.query as { loaders?: string; game_versions?: string }
  const hints = { loader: firstOf(loaders), game_version: firstOf(game_versions) }
  for (const { id, projectId, isRequired } of versions)
    await recordDownload(deps, {
      projectId,
      versionId: id,
      caller: { address: req.clientAddress, headers: req.headers },
      signedIn: req.viewer !== null,
      hints: { ...hints, ...(isRequired ? { reason: 'dependency' } : {}) },
    })
}

const firstOf = (list: string | undefined): string | undefined => (list === undefined ? undefined : parseIds(list)[0])
