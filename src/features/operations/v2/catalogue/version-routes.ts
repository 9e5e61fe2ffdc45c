// v2 routes that read versions.
import Type, { type Static } from 'typebox'
import { getProject } from '#features/catalogue/projects/lookup/project-cache.ts'
import {
  NumberParams,
  VersionListQuery,
  VersionsQuery,
  versionListFilter,
} from '#features/catalogue/versions/lookup/list-requests.ts'
import {
  filterVisibleVersions,
  getVersion,
  getVersionByNumber,
  listCachedVersions,
  peekPublicVersion,
} from '#features/catalogue/versions/lookup/version-cache.ts'
import { listVersionIdsFor } from '#features/catalogue/versions/lookup/version-list.ts'
import type { VersionListFilter } from '#features/catalogue/versions/queries.ts'
import { parseId } from '#lib/ids.ts'
import { viewerWith } from '#platform/http/auth/auth.ts'
import { IdParams, ProjectParams, parseIds } from '#platform/http/query-values.ts'
import { sendBytes, sendList } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { Clamped, clamp } from '../requests.ts'
import { listVersionBytes, VersionV2, versionBytes } from './version-views.ts'

const LISTED_MAX = 1_000_000
const OFFSET_MAX = 1_000_000_000

export function versionRoutesV2(app: App, deps: Deps): void {
  versionsById(app, deps)
  versionsOfProject(app, deps)
}

function versionsById(app: App, deps: Deps): void {
  const config = { auth: { read: ['VERSION_READ'] }, cache: 'public' } as const
  const peek = (id: string) => {
    const version = peekPublicVersion(deps, id)
    return version === undefined ? undefined : versionBytes(deps, version)
  }
  app.get(
    '/version/:id',
    {
      config: { ...config, ready: peek },
      schema: {
        operationId: 'getVersionV2',
        summary: 'Get a version by ID',
        params: IdParams,
        response: { 200: VersionV2 },
      },
    },
    async (req, reply) => {
      const version = await getVersion(deps, req.viewer, parseId(req.params.id, 'id'))
      const { bytes, etag } = versionBytes(deps, version)
      return sendBytes(reply, bytes, etag)
    },
  )
  app.get(
    '/versions',
    {
      config,
      schema: {
        operationId: 'listVersionsV2',
        summary: 'List versions by ID',
        querystring: VersionsQuery,
        response: { 200: Type.Array(VersionV2) },
      },
    },
    async (req, reply) => {
      const ids = parseIds(req.query.ids).map((id) => parseId(id, 'ids'))
      const versions = await filterVisibleVersions(deps.db, req.viewer, await listCachedVersions(deps, ids))
      const changelogs = req.query.include_changelog !== false
      return sendList(reply, await listVersionBytes(deps, versions, { changelogs }))
    },
  )
}

const { loaders, game_versions, featured, version_type, include_changelog } = VersionListQuery.properties
const ListQuery = Type.Object({
  loaders,
  game_versions,
  featured,
  version_type,
  limit: Clamped('Maximum number of versions. Default: all'),
  offset: Clamped('Number of versions to skip. Default: 0'),
  include_changelog,
})

/** Omits keys that the v2 API does not have, so that they are ignored instead of validated. */
function listFilter(query: Static<typeof ListQuery>): VersionListFilter {
  const { loaders, game_versions, featured, version_type, limit, offset } = query
  return versionListFilter({
    ...(loaders === undefined ? {} : { loaders }),
    ...(game_versions === undefined ? {} : { game_versions }),
    ...(featured === undefined ? {} : { featured }),
    ...(version_type === undefined ? {} : { version_type }),
    ...(limit === undefined ? {} : { limit: clamp(limit, { fallback: 0, min: 0, max: LISTED_MAX }) }),
    offset: clamp(offset, { fallback: 0, min: 0, max: OFFSET_MAX }),
  })
}

const BOTH_SCOPES = 'Hidden projects and versions require a token with both scopes.'

function versionsOfProject(app: App, deps: Deps): void {
  const both = ['PROJECT_READ', 'VERSION_READ'] as const
  const config = { auth: { read: both }, cache: 'public' } as const
  app.get(
    '/project/:id/version',
    {
      config,
      schema: {
        operationId: 'listProjectVersionsV2',
        summary: 'List the listed and archived versions of a project, newest first',
        description: BOTH_SCOPES,
        params: ProjectParams,
        querystring: ListQuery,
        response: { 200: Type.Array(VersionV2) },
      },
    },
    async (req, reply) => {
      const project = await getProject(deps, viewerWith(req.viewer, both), req.params.id)
      const versions = await listCachedVersions(deps, await listVersionIdsFor(deps, project.id, listFilter(req.query)))
      const changelogs = req.query.include_changelog !== false
      return sendList(reply, await listVersionBytes(deps, versions, { changelogs }))
    },
  )
  app.get(
    '/project/:id/version/:version_number',
    {
      config,
      schema: {
        operationId: 'getProjectVersionV2',
        summary: 'Get a listed or archived version of a project by number or ID',
        description: BOTH_SCOPES,
        params: NumberParams,
        response: { 200: VersionV2 },
      },
    },
    async (req, reply) => {
      const viewer = viewerWith(req.viewer, both)
      const project = await getProject(deps, viewer, req.params.id)
      const named = { projectId: project.id, name: req.params.version_number }
      const { bytes, etag } = versionBytes(deps, await getVersionByNumber(deps, viewer, named))
      return sendBytes(reply, bytes, etag)
    },
  )
}
