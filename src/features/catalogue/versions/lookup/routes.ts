// Routes to read versions by ID, and the versions of a project.
import Type from 'typebox'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { parseId } from '#lib/ids.ts'
import { viewerWith } from '#platform/http/auth/auth.ts'
import { IdParams, ProjectParams, parseIds } from '#platform/http/query-values.ts'
import { sendBytes, sendList } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { VersionView } from '../views.ts'
import { NumberParams, VersionListQuery, VersionsQuery, versionListFilter } from './list-requests.ts'
import {
  filterVisibleVersions,
  getVersion,
  getVersionByNumber,
  listCachedVersions,
  peekPublicVersion,
  withChangelogs,
} from './version-cache.ts'
import { listVersionIdsFor } from './version-list.ts'

export function versionReadRoutes(app: App, deps: Deps): void {
  versionReads(app, deps)
  projectVersionReads(app, deps)
}

function versionReads(app: App, deps: Deps): void {
  const config = { auth: { read: ['VERSION_READ'] }, cache: 'public' } as const
  app.get(
    '/v3/version/:id',
    {
      config: { ...config, ready: (id) => peekPublicVersion(deps, id) },
      schema: {
        operationId: 'getVersion',
        summary: 'Get a version by ID',
        params: IdParams,
        response: { 200: VersionView },
      },
    },
    async (req, reply) => {
      const version = await getVersion(deps, req.viewer, parseId(req.params.id, 'id'))
      return sendBytes(reply, version.bytes, version.etag)
    },
  )
  app.get(
    '/v3/versions',
    {
      config,
      schema: {
        operationId: 'listVersions',
        summary: 'Get versions by ID',
        querystring: VersionsQuery,
        response: { 200: Type.Array(VersionView) },
      },
    },
    async (req, reply) => {
      const ids = parseIds(req.query.ids).map((id) => parseId(id, 'ids'))
      const versions = await filterVisibleVersions(deps.db, req.viewer, await listCachedVersions(deps, ids))
      return sendList(reply, withChangelogs(versions, req.query.include_changelog))
    },
  )
}

const BOTH_SCOPES = 'Requires both scopes to see non-public projects and versions.'

function projectVersionReads(app: App, deps: Deps): void {
  const both = ['PROJECT_READ', 'VERSION_READ'] as const
  const config = { auth: { read: both }, cache: 'public' } as const
  app.get(
    '/v3/project/:id/version',
    {
      config,
      schema: {
        operationId: 'listProjectVersions',
        summary: 'List the listed and archived versions of a project, newest first',
        description: BOTH_SCOPES,
        params: ProjectParams,
        querystring: VersionListQuery,
        response: { 200: Type.Array(VersionView) },
      },
    },
    async (req, reply) => {
      const project = await getProject(deps, viewerWith(req.viewer, both), req.params.id)
      const ids = await listVersionIdsFor(deps, project.id, versionListFilter(req.query))
      const versions = await listCachedVersions(deps, ids)
      return sendList(reply, withChangelogs(versions, req.query.include_changelog))
    },
  )
  app.get(
    '/v3/project/:id/version/:version_number',
    {
      config,
      schema: {
        operationId: 'getProjectVersion',
        summary: 'Get a listed or archived version of a project by version number or ID',
        description: BOTH_SCOPES,
        params: NumberParams,
        response: { 200: VersionView },
      },
    },
    async (req, reply) => {
      const viewer = viewerWith(req.viewer, both)
      const project = await getProject(deps, viewer, req.params.id)
      const version = await getVersionByNumber(deps, viewer, { projectId: project.id, name: req.params.version_number })
      return sendBytes(reply, version.bytes, version.etag)
    },
  )
}
