// Files by their hashes: the version, the project, the address of the bytes; and the deletion of one file.
import Type, { type Static } from 'typebox'
import { findMembership } from '#features/access/memberships.ts'
import { projectPermissions, requireProjectPermission } from '#features/access/project-policy.ts'
import { listVisibleProjects } from '#features/projects/lookup/project-cache.ts'
import { ProjectView } from '#features/projects/views.ts'
import { done } from '#http/answers.ts'
import { requireViewer, viewerWith } from '#http/auth.ts'
import { sendBytes } from '#http/entity-tags.ts'
import type { App } from '#http/server.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { joinJsonObject } from '#lib/json-bytes.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { deleteFile } from '../lifecycle/delete-file.ts'
import { FileAddress, filePath, VersionView } from '../views.ts'
import { FileQuery, HashesBody, HashesQuery, HashParams, hashesOf } from './hash-form.ts'
import { findFileIn, type HashQuery, type ResolvedFile, resolveFiles } from './resolve-files.ts'
import { getVersion, listCachedVersions } from './version-cache.ts'

const ByHash = <Schema extends Type.TSchema>(schema: Schema) => Type.Record(Type.String(), schema)
const versionsByHash = { 200: ByHash(VersionView) }
const projectsByHash = { 200: ByHash(ProjectView) }

export function hashRoutes(app: App, deps: Deps): void {
  singleReads(app, deps)
  bulkReads(app, deps)
  deletion(app, deps)
}

type NamedFile = Static<typeof HashParams> & Static<typeof FileQuery>

/** @throws ApiError 404 when the hash is unknown or hidden. */
async function resolveFile(
  deps: Pick<Deps, 'db'>,
  viewer: Viewer | null,
  { hash, algorithm, version_id: versionId }: NamedFile,
): Promise<ResolvedFile> {
  if (versionId !== undefined) parseId(versionId, 'version_id')
  const file = (await resolveFiles(deps.db, viewer, { hashes: [hash], algorithm, versionId })).get(hash)
  if (file === undefined) throw notFound('file')
  return file
}

/** The same with the file itself. */
async function getFile(deps: Pick<Deps, 'db'>, viewer: Viewer | null, named: NamedFile) {
  const place = await resolveFile(deps, viewer, named)
  const file = await findFileIn(deps.db, place.versionId, named)
  if (file === undefined) throw notFound('file')
  return { ...place, ...file }
}

function singleReads(app: App, deps: Deps): void {
  const about = { params: HashParams, querystring: FileQuery }
  app.get(
    '/v3/version_file/:hash',
    {
      config: { auth: { read: ['VERSION_READ'] }, cache: 'public' },
      schema: {
        operationId: 'getVersionByHash',
        summary: 'The version of a file; of several the one published last',
        ...about,
        response: { 200: VersionView },
      },
    },
    async (req, reply) => {
      const file = await resolveFile(deps, req.viewer, { ...req.params, ...req.query })
      const version = await getVersion(deps, req.viewer, file.versionId)
      return sendBytes(reply, version.bytes, version.etag)
    },
  )
  app.get(
    '/v3/version_file/:hash/download',
    {
      config: { auth: { read: ['VERSION_READ'] } },
      schema: {
        operationId: 'downloadByHash',
        summary: 'Go to the bytes of a file',
        ...about,
        response: { 307: FileAddress },
      },
    },
    async (req, reply) => {
      const { projectId, versionId, filename } = await getFile(deps, req.viewer, { ...req.params, ...req.query })
      const url = `${deps.config.files.baseUrl}${filePath(projectId, versionId, filename)}`
      return reply.status(307).header('location', url).send({ url })
    },
  )
}

function bulkReads(app: App, deps: Deps): void {
  const readVersions = { auth: { read: ['VERSION_READ'] } } as const
  const both = ['VERSION_READ', 'PROJECT_READ'] as const
  const readProjects = { auth: { read: both } } as const
  const versions = { summary: 'The versions of files', response: versionsByHash }
  app.post(
    '/v3/version_files',
    { config: readVersions, schema: { operationId: 'listVersionsByHash', ...versions, body: HashesBody } },
    async (req, reply) => sendBytes(reply, await versionsOf(deps, req.viewer, hashesOf(req.body))),
  )
  app.get(
    '/v3/version_files',
    {
      config: { ...readVersions, cache: 'public' },
      schema: { operationId: 'getVersionsByHash', ...versions, querystring: HashesQuery },
    },
    async (req, reply) => sendBytes(reply, await versionsOf(deps, req.viewer, hashesOf(req.query))),
  )
  const projects = {
    summary: 'The projects of files',
    description: 'What not everybody may see is shown to a token with both scopes.',
    response: projectsByHash,
  }
  app.post(
    '/v3/version_file/project',
    { config: readProjects, schema: { operationId: 'listProjectsByHash', ...projects, body: HashesBody } },
    async (req, reply) => sendBytes(reply, await projectsOf(deps, viewerWith(req.viewer, both), hashesOf(req.body))),
  )
  app.get(
    '/v3/version_file/project',
    {
      config: { ...readProjects, cache: 'public' },
      schema: { operationId: 'getProjectsByHash', ...projects, querystring: HashesQuery },
    },
    async (req, reply) => sendBytes(reply, await projectsOf(deps, viewerWith(req.viewer, both), hashesOf(req.query))),
  )
}

/** `{hash: Version}`; three statements at most. */
async function versionsOf(deps: Deps, viewer: Viewer | null, query: HashQuery): Promise<Buffer> {
  const files = await resolveFiles(deps.db, viewer, query)
  const ids = new Set(Array.from(files.values(), ({ versionId }) => versionId))
  const versions = new Map((await listCachedVersions(deps, [...ids])).map((version) => [version.id, version]))
  return byHash(files, ({ versionId }) => versions.get(versionId))
}

/** `{hash: Project}`; three statements at most. */
async function projectsOf(deps: Deps, viewer: Viewer | null, query: HashQuery): Promise<Buffer> {
  const files = await resolveFiles(deps.db, viewer, query)
  const ids = new Set(Array.from(files.values(), ({ projectId }) => projectId))
  const projects = new Map((await listVisibleProjects(deps, viewer, [...ids])).map((project) => [project.id, project]))
  return byHash(files, ({ projectId }) => projects.get(projectId))
}

function byHash(files: Map<string, ResolvedFile>, pick: (file: ResolvedFile) => { bytes: Buffer } | undefined): Buffer {
  return joinJsonObject(
    [...files].flatMap(([hash, file]) => {
      const thing = pick(file)
      return thing === undefined ? [] : [[hash, thing] as const]
    }),
  )
}

function deletion(app: App, deps: Deps): void {
  app.delete(
    '/v3/version_file/:hash',
    {
      config: { auth: { scope: ['VERSION_WRITE'] } },
      schema: {
        operationId: 'deleteVersionFile',
        summary: 'Delete a file of a version that has others',
        params: HashParams,
        querystring: FileQuery,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const { id, versionId, projectId } = await getFile(deps, viewer, { ...req.params, ...req.query })
      const membership = await findMembership(deps.db, viewer.id, { id: projectId })
      requireProjectPermission(projectPermissions(viewer, membership), 'DELETE_VERSION')
      await deleteFile(deps, { id, versionId, projectId })
      return done(reply)
    },
  )
}
