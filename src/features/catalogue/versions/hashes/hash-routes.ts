// Routes to the versions, projects and downloads of files by their hashes, and to delete a file.

import { requireViewer, viewerWith } from '#features/basics/authentication/access-control.ts'
import { ProjectView } from '#features/catalogue/projects/views.ts'
import { sendBytes, sendObject } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { type CatalogueForms, V3 } from '../../forms.ts'
import { deleteFile } from '../lifecycle/delete-file.ts'
import { getVersion } from '../lookup/version-cache.ts'
import { FileAddress, filePath, VersionView } from '../views.ts'
import { convertEach, listProjectsByHash, listVersionsByHash } from './by-hash.ts'
import { ByHash, FileQuery, HashesBody, HashesQuery, HashParams, hashesOf } from './requests.ts'
import { getFile, resolveFile } from './resolve-files.ts'

export function hashRoutes(app: App, deps: Deps): void {
  sharedHashRoutes(app, deps)
  queryReads(app, deps)
}

/** The routes that the v2 API has too, with another prefix and other forms. */
export function sharedHashRoutes(app: App, deps: Deps, api = V3): void {
  singleReads(app, deps, api)
  bulkReads(app, deps, api)
  deletion(app, deps, api)
}

function singleReads(app: App, deps: Deps, { prefix, version: { schema, toJson } }: CatalogueForms): void {
  const about = { params: HashParams, querystring: FileQuery }
  app.get(`${prefix}/version_file/:hash`, {
    config: { ...readVersions, cache: 'public', errors: ['400 decoding_error'] },
    schema: {
      operationId: 'getVersionByHash',
      summary: 'Get the version that contains a file, or the latest of several',
      ...about,
      response: { 200: schema },
    },
    handler: async (req, reply) => {
      const file = await resolveFile(deps, req.viewer, { ...req.params, ...req.query })
      const { bytes, etag } = toJson(await getVersion(deps, req.viewer, file.versionId))
      return sendBytes(reply, bytes, etag)
    },
  })
  app.get(`${prefix}/version_file/:hash/download`, {
    config: { ...readVersions, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'downloadByHash',
      summary: 'Redirect to the download URL of a file',
      ...about,
      response: { 307: FileAddress },
    },
    handler: async (req, reply) => {
      const { projectId, versionId, filename } = await getFile(deps, req.viewer, { ...req.params, ...req.query })
      const url = `${deps.config.files.baseUrl}${filePath(projectId, versionId, filename)}`
      return reply.status(307).header('location', url).send({ url })
    },
  })
}

const versionsOfFiles = { summary: 'Get the versions that contain files' }
const projectsOfFiles = {
  summary: 'Get the projects that contain files',
  description: 'Includes non-public projects only if the token has both scopes.',
}
const shared = { limitedTokens: 'versions', withoutPage: 'For launchers and build tools' } as const
const readVersions = { auth: { read: ['VERSION_READ'] }, ...shared } as const
const both = ['VERSION_READ', 'PROJECT_READ'] as const
const readProjects = { auth: { read: both }, ...shared } as const

function bulkReads(app: App, deps: Deps, { prefix, version, project }: CatalogueForms): void {
  app.post(`${prefix}/version_files`, {
    config: readVersions,
    schema: {
      operationId: 'listVersionsByHash',
      ...versionsOfFiles,
      body: HashesBody,
      response: { 200: ByHash(version.schema) },
    },
    handler: async (req, reply) => {
      const versions = await listVersionsByHash(deps, req.viewer, hashesOf(req.body))
      return sendObject(reply, convertEach(versions, version.toJson))
    },
  })
  app.post(`${prefix}/version_file/project`, {
    config: readProjects,
    schema: {
      operationId: 'listProjectsByHash',
      ...projectsOfFiles,
      body: HashesBody,
      response: { 200: ByHash(project.schema) },
    },
    handler: async (req, reply) => {
      const projects = await listProjectsByHash(deps, viewerWith(req.viewer, both), hashesOf(req.body))
      return sendObject(reply, convertEach(projects, project.toJson))
    },
  })
}

function queryReads(app: App, deps: Deps): void {
  app.get('/v3/version_files', {
    config: { ...readVersions, cache: 'public' },
    schema: {
      operationId: 'getVersionsByHash',
      ...versionsOfFiles,
      querystring: HashesQuery,
      response: { 200: ByHash(VersionView) },
    },
    handler: async (req, reply) => sendObject(reply, await listVersionsByHash(deps, req.viewer, hashesOf(req.query))),
  })
  app.get('/v3/version_file/project', {
    config: { ...readProjects, cache: 'public' },
    schema: {
      operationId: 'getProjectsByHash',
      ...projectsOfFiles,
      querystring: HashesQuery,
      response: { 200: ByHash(ProjectView) },
    },
    handler: async (req, reply) =>
      sendObject(reply, await listProjectsByHash(deps, viewerWith(req.viewer, both), hashesOf(req.query))),
  })
}

function deletion(app: App, deps: Deps, { prefix }: CatalogueForms): void {
  app.delete(`${prefix}/version_file/:hash`, {
    config: { auth: { scope: ['VERSION_WRITE'] }, limitedTokens: 'resource', errors: ['400 decoding_error'] },
    schema: {
      operationId: 'deleteVersionFile',
      summary: 'Delete a file from a version that has other files',
      params: HashParams,
      querystring: FileQuery,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const file = await getFile(deps, viewer, { ...req.params, ...req.query })
      await deleteFile(deps, viewer, file)
    },
  })
}
