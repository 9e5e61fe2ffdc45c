// Routes to read versions by ID, and the versions of a project.
import Type, { type Static, type TSchema } from 'typebox'
import { ProjectParams } from '#features/basics/access/requests.ts'
import { viewerWith } from '#features/basics/authentication/access-control.ts'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import { parseId } from '#lib/ids.ts'
import { readPosition } from '#platform/db/list-position.ts'
import { IdParams, parseIdList } from '#platform/http/query-values.ts'
import { sendBytes, sendList } from '#platform/http/responses/entity-tags.ts'
import { LINKED, linkToNext } from '#platform/http/responses/next-page.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { type CatalogueForms, listVersionJson, V3 } from '../../forms.ts'
import { NumberParams, VersionListQuery, VersionsQuery, versionListFilter } from './list-requests.ts'
import {
  getVersion,
  getVersionByNumber,
  listCachedVersions,
  listVisibleVersions,
  peekPublicVersion,
} from './version-cache.ts'
import { listVersionPage } from './version-list.ts'

export function versionReadRoutes(app: App, deps: Deps, api = V3, listQuery: TSchema = VersionListQuery): void {
  versionReads(app, deps, api)
  projectVersionReads(app, deps, api, listQuery)
}

function versionReads(app: App, deps: Deps, api: CatalogueForms): void {
  const { prefix, version: form } = api
  const config = { auth: { read: ['VERSION_READ'] }, limitedTokens: 'versions', cache: 'public' } as const
  app.get(`${prefix}/version/:id`, {
    config: {
      ...config,
      ready: (id) => {
        const version = peekPublicVersion(deps, id)
        return version === undefined ? undefined : form.toJson(version)
      },
    },
    schema: {
      operationId: 'getVersion',
      summary: 'Get a version by ID',
      params: IdParams,
      response: { 200: form.schema },
    },
    handler: async (req, reply) => {
      const { bytes, etag } = form.toJson(await getVersion(deps, req.viewer, parseId(req.params.id, 'id')))
      return sendBytes(reply, bytes, etag)
    },
  })
  app.get(`${prefix}/versions`, {
    config: { ...config, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'listVersions',
      summary: 'Get versions by ID',
      querystring: VersionsQuery,
      response: { 200: Type.Array(form.schema) },
    },
    handler: async (req, reply) => {
      const ids = parseIdList(req.query.ids)
      const versions = await listVisibleVersions(deps, req.viewer, ids)
      return sendList(reply, await listVersionJson(versions, api, req.query.include_changelog))
    },
  })
}

const BOTH_SCOPES = 'Requires both scopes to see non-public projects and versions.'

function projectVersionReads(app: App, deps: Deps, api: CatalogueForms, listQuery: TSchema): void {
  const { prefix, version: form } = api
  const both = ['PROJECT_READ', 'VERSION_READ'] as const
  const config = { auth: { read: both }, limitedTokens: 'versions', cache: 'public' } as const
  app.get(`${prefix}/project/:id/version`, {
    config,
    schema: {
      operationId: 'listProjectVersions',
      summary: 'List the listed and archived versions of a project, newest first',
      description: `${LINKED} ${BOTH_SCOPES}`,
      params: ProjectParams,
      querystring: listQuery,
      response: { 200: Type.Array(form.schema) },
    },
    handler: async (req, reply) => {
      const project = await getProject(deps, viewerWith(req.viewer, both), req.params.id)
      const query = req.query as Static<typeof VersionListQuery>
      const { limit, offset } = query
      const part = { filter: versionListFilter(query, deps.taxonomy), limit, offset, after: readPosition(query.cursor) }
      const { ids, next } = await listVersionPage(deps, project.id, part)
      linkToNext(req, reply, next)
      const versions = await listCachedVersions(deps, ids)
      return sendList(reply, await listVersionJson(versions, api, query.include_changelog))
    },
  })
  app.get(`${prefix}/project/:id/version/:version_number`, {
    config,
    schema: {
      operationId: 'getProjectVersion',
      summary: 'Get a listed or archived version of a project by version number or ID',
      description: BOTH_SCOPES,
      params: NumberParams,
      response: { 200: form.schema },
    },
    handler: async (req, reply) => {
      const viewer = viewerWith(req.viewer, both)
      const project = await getProject(deps, viewer, req.params.id)
      const named = { projectId: project.id, name: req.params.version_number }
      const { bytes, etag } = form.toJson(await getVersionByNumber(deps, viewer, named))
      return sendBytes(reply, bytes, etag)
    },
  })
}
