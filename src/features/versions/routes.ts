// Versions: reading them, publishing, editing, deleting, and adding files.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { projectPermissions, requireProjectPermission } from '#features/access/project-policy.ts'
import { getProject } from '#features/projects/lookup/project-cache.ts'
import { done } from '#http/answers.ts'
import { requireViewer, viewerWith } from '#http/auth.ts'
import { sendBytes, sendList } from '#http/entity-tags.ts'
import { readMultipart } from '#http/multipart.ts'
import { IdParams, IdsQuery, Offset, parseIds } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { checkBody } from '#lib/schema-faults.ts'
import type { Deps } from '#main/deps.ts'
import { checkFilename } from './files/filename.ts'
import { deleteVersion } from './lifecycle/delete-version.ts'
import { VersionPatch } from './lifecycle/requests.ts'
import { updateVersion } from './lifecycle/update-version.ts'
import { filterOfQuery, filterQuery } from './lookup/filter-form.ts'
import { getVersion, getVersionAsMember, keepVisibleVersions, listCachedVersions } from './lookup/version-cache.ts'
import { listVersionIdsFor } from './lookup/version-list.ts'
import { addFiles, createVersion, requirePublisher } from './publish/create-version.ts'
import { FILE_BYTES_MAX } from './publish/prepare-files.ts'
import { FILE_PARTS_MAX, type NewVersion, parseVersionData, VersionData } from './publish/requests.ts'
import { findVersionIdByNumber, type VersionListFilter } from './queries.ts'
import { FILE_TYPES, VERSION_TYPES } from './status.ts'
import { IncludeChangelog, VersionView } from './views.ts'

/** The description of one version: a changelog and thousands of dependencies. */
const DATA_BYTES_MAX = 4 * 1024 * 1024
const BODY_BYTES_MAX = 4 * 1024 * 1024 * 1024

export function versionRoutes(app: App, deps: Deps): void {
  versionReads(app, deps)
  projectVersionReads(app, deps)
  versionUploads(app, deps)
  versionEdits(app, deps)
}

function versionReads(app: App, deps: Deps): void {
  const config = { auth: { read: ['VERSION_READ'] }, cache: 'public' } as const
  app.get(
    '/v3/version/:id',
    {
      config,
      schema: {
        operationId: 'getVersion',
        summary: 'A version by ID',
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
        summary: 'Versions by ID',
        querystring: Type.Object({
          ...IdsQuery.properties,
          include_changelog: IncludeChangelog,
        }),
        response: { 200: Type.Array(VersionView) },
      },
    },
    async (req, reply) => {
      const ids = parseIds(req.query.ids).map((id) => parseId(id, 'ids'))
      const versions = await keepVisibleVersions(deps.db, req.viewer, await listCachedVersions(deps, ids))
      return sendList(reply, req.query.include_changelog === false ? versions.map(({ brief }) => brief) : versions)
    },
  )
}

const VersionListQuery = Type.Object({
  ...filterQuery,
  featured: Type.Optional(Type.Boolean({ description: 'Only versions that are, or are not, featured' })),
  version_type: Type.Optional(Type.Enum([...VERSION_TYPES], { description: 'Only versions of this channel' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'How many at most; all unless given' }),
  ),
  offset: Offset,
  include_changelog: IncludeChangelog,
})

function versionListFilter(query: Static<typeof VersionListQuery>): VersionListFilter {
  return {
    ...filterOfQuery(query),
    versionTypes: query.version_type === undefined ? [] : [query.version_type],
    ...(query.featured === undefined ? {} : { featured: query.featured }),
    ...(query.limit === undefined ? {} : { limit: query.limit }),
    ...(query.offset === undefined ? {} : { offset: query.offset }),
  }
}

const BOTH_SCOPES = 'What not everybody may see is shown to a token with both scopes.'

function projectVersionReads(app: App, deps: Deps): void {
  const both = ['PROJECT_READ', 'VERSION_READ'] as const
  const config = { auth: { read: both }, cache: 'public' } as const
  app.get(
    '/v3/project/:id/version',
    {
      config,
      schema: {
        operationId: 'listProjectVersions',
        summary: 'Listed and archived versions of a project, newest first',
        description: BOTH_SCOPES,
        params: IdParams,
        querystring: VersionListQuery,
        response: { 200: Type.Array(VersionView) },
      },
    },
    async (req, reply) => {
      const project = await getProject(deps, viewerWith(req.viewer, both), req.params.id)
      const ids = await listVersionIdsFor(deps, project.id, versionListFilter(req.query))
      const versions = await listCachedVersions(deps, ids)
      return sendList(reply, req.query.include_changelog === false ? versions.map(({ brief }) => brief) : versions)
    },
  )
  app.get(
    '/v3/project/:id/version/:version_number',
    {
      config,
      schema: {
        operationId: 'getProjectVersion',
        summary: 'A listed or archived version of a project by number or ID',
        description: BOTH_SCOPES,
        params: Type.Object({
          ...IdParams.properties,
          version_number: Type.String({ maxLength: 64, description: 'The number, or the ID of the version' }),
        }),
        response: { 200: VersionView },
      },
    },
    async (req, reply) => {
      const viewer = viewerWith(req.viewer, both)
      const project = await getProject(deps, viewer, req.params.id)
      const id = await findVersionIdByNumber(deps.db, project.id, req.params.version_number)
      if (id === undefined) throw notFound('version')
      const version = await getVersion(deps, viewer, id)
      return sendBytes(reply, version.bytes, version.etag)
    },
  )
}

const FileData = Type.Object(
  {
    file_types: Type.Optional(
      Type.Union([
        Type.Record(Type.String({ maxLength: 255 }), Type.Union([Type.Enum([...FILE_TYPES]), Type.Null()])),
        Type.Null(),
      ]),
    ),
  },
  { title: 'VersionFilesAdd' },
)
const fileData = Compile(FileData)

function versionUploads(app: App, deps: Deps): void {
  app.register(async (scope: App) => {
    // The form is read by the handler, part by part.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('multipart/form-data', (_req, _payload, done) => done(null, undefined))
    scope.post(
      '/v3/version',
      {
        config: { auth: { scope: ['VERSION_CREATE'] }, formData: { schema: VersionData } },
        schema: {
          operationId: 'createVersion',
          summary: 'Publish a version with its files',
          consumes: ['multipart/form-data'],
          response: { 201: VersionView },
        },
      },
      async (req, reply) => {
        const viewer = requireViewer(req)
        const received: { version?: NewVersion } = {}
        const form = await readMultipart(req.raw, {
          files: deps.files,
          maxDataBytes: DATA_BYTES_MAX,
          maxParts: FILE_PARTS_MAX,
          maxBodyBytes: BODY_BYTES_MAX,
          onData: async (data) => {
            received.version = parseVersionData(data, deps.taxonomy)
            await requirePublisher(deps, viewer, received.version.projectId)
          },
          maxBytesOf: ({ name, filename }) => {
            checkFilename(deps.fileRules, name, filename)
            return FILE_BYTES_MAX
          },
        })
        if (received.version === undefined) throw invalidInput('The part data is missing', 'data')
        const id = await createVersion(deps, viewer, { version: received.version, parts: form.parts })
        const version = await getVersion(deps, viewer, id)
        return sendBytes(reply.status(201), version.bytes)
      },
    )
    scope.post(
      '/v3/version/:id/file',
      {
        config: { auth: { scope: ['VERSION_WRITE'] }, formData: { schema: FileData, isOptional: true } },
        schema: {
          operationId: 'addVersionFiles',
          summary: 'Add files to a version',
          params: IdParams,
          consumes: ['multipart/form-data'],
        },
      },
      async (req, reply) => {
        const viewer = requireViewer(req)
        const { version, membership } = await getVersionAsMember(deps, viewer, parseId(req.params.id, 'id'))
        requireProjectPermission(projectPermissions(viewer, membership), 'UPLOAD_VERSION')
        const form = await readMultipart(req.raw, {
          files: deps.files,
          dataRequired: false,
          maxDataBytes: DATA_BYTES_MAX,
          maxParts: FILE_PARTS_MAX,
          maxBodyBytes: BODY_BYTES_MAX,
          onData: (data) => void checkBody(fileData, data),
          maxBytesOf: ({ name, filename }) => {
            checkFilename(deps.fileRules, name, filename)
            return FILE_BYTES_MAX
          },
        })
        const declared = form.data === undefined ? {} : checkBody(fileData, form.data)
        const fileTypes = new Map(Object.entries(declared.file_types ?? {}))
        await addFiles(deps, { versionId: version.id, projectId: version.project.id, fileTypes, parts: form.parts })
        return done(reply)
      },
    )
  })
}

function versionEdits(app: App, deps: Deps): void {
  app.patch(
    '/v3/version/:id',
    {
      config: { auth: { scope: ['VERSION_WRITE'] } },
      schema: {
        operationId: 'updateVersion',
        summary: 'Edit a version',
        params: IdParams,
        body: VersionPatch,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const { version, membership } = await getVersionAsMember(deps, viewer, parseId(req.params.id, 'id'))
      requireProjectPermission(projectPermissions(viewer, membership), 'UPLOAD_VERSION')
      await updateVersion(deps, viewer, { id: version.id, projectId: version.project.id, patch: req.body })
      return done(reply)
    },
  )
  app.delete(
    '/v3/version/:id',
    {
      config: { auth: { scope: ['VERSION_DELETE'] } },
      schema: {
        operationId: 'deleteVersion',
        summary: 'Delete a version with its files',
        params: IdParams,
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const { version, membership } = await getVersionAsMember(deps, viewer, parseId(req.params.id, 'id'))
      requireProjectPermission(projectPermissions(viewer, membership), 'DELETE_VERSION')
      await deleteVersion(deps, { id: version.id, projectId: version.project.id })
      return done(reply)
    },
  )
}
