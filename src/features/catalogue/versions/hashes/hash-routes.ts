// Routes to the versions, projects and downloads of files by their hashes, and to delete a file.
import Type from 'typebox'
import { ProjectView } from '#features/catalogue/projects/views.ts'
import { requireViewer, viewerWith } from '#platform/http/auth/auth.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import { sendBytes, sendObject } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteFile } from '../lifecycle/delete-file.ts'
import { getVersion } from '../lookup/version-cache.ts'
import { FileAddress, filePath, VersionView } from '../views.ts'
import { listProjectsByHash, listVersionsByHash } from './by-hash.ts'
import { FileQuery, HashesBody, HashesQuery, HashParams, hashesOf } from './requests.ts'
import { getFile, resolveFile } from './resolve-files.ts'

const ByHash = <Schema extends Type.TSchema>(schema: Schema) => Type.Record(Type.String(), schema)
const versionsByHash = { 200: ByHash(VersionView) }
const projectsByHash = { 200: ByHash(ProjectView) }

export function hashRoutes(app: App, deps: Deps): void {
  singleReads(app, deps)
  bulkReads(app, deps)
  deletion(app, deps)
}

function singleReads(app: App, deps: Deps): void {
  const about = { params: HashParams, querystring: FileQuery }
  app.get(
    '/v3/version_file/:hash',
    {
      config: { auth: { read: ['VERSION_READ'] }, cache: 'public' },
      schema: {
        operationId: 'getVersionByHash',
        summary: 'Get the version that contains a file, or the latest of several',
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
        summary: 'Redirect to the download URL of a file',
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
  const readVersionsInOrder = { auth: { read: ['VERSION_READ'] } } as const
  const both = ['VERSION_READ', 'PROJECT_READ'] as const
  const readProjects = { auth: { read: both } } as const
  const versions = { summary: 'Get the versions that contain files', response: versionsByHash }
  app.post(
    '/v3/version_files',
    { config: readVersionsInOrder, schema: { operationId: 'listVersionsByHash', ...versions, body: HashesBody } },
    async (req, reply) => sendObject(reply, await listVersionsByHash(deps, req.viewer, hashesOf(req.body))),
  )
  app.get(
    '/v3/version_files',
    {
      config: { ...readVersionsInOrder, cache: 'public' },
      schema: { operationId: 'getVersionsByHash', ...versions, querystring: HashesQuery },
    },
    async (req, reply) => sendObject(reply, await listVersionsByHash(deps, req.viewer, hashesOf(req.query))),
  )
  const projects = {
    summary: 'Get the projects that contain files',
    description: 'Includes non-public projects only if the token has both scopes.',
    response: projectsByHash,
  }
  app.post(
    '/v3/version_file/project',
    { config: readProjects, schema: { operationId: 'listProjectsByHash', ...projects, body: HashesBody } },
    async (req, reply) =>
      sendObject(reply, await listProjectsByHash(deps, viewerWith(req.viewer, both), hashesOf(req.body))),
  )
  app.get(
    '/v3/version_file/project',
    {
      config: { ...readProjects, cache: 'public' },
      schema: { operationId: 'getProjectsByHash', ...projects, querystring: HashesQuery },
    },
    async (req, reply) =>
      sendObject(reply, await listProjectsByHash(deps, viewerWith(req.viewer, both), hashesOf(req.query))),
  )
}

function deletion(app: App, deps: Deps): void {
  app.delete(
    '/v3/version_file/:hash',
    {
      config: { auth: { scope: ['VERSION_WRITE'] } },
      schema: {
        operationId: 'deleteVersionFile',
        summary: 'Delete a file from a version that has other files',
        params: HashParams,
        querystring: FileQuery,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const file = await getFile(deps, viewer, { ...req.params, ...req.query })
      await deleteFile(deps, viewer, file)
      return done(reply)
    },
  )
}
