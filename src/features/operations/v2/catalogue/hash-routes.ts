// v2 routes that find versions, projects and updates by the hashes of files.
import Type, { type Static } from 'typebox'
import {
  checkUpdate,
  checkUpdates,
  listProjectsByHash,
  listVersionsByHash,
  type ResultsByHash,
} from '#features/catalogue/versions/hashes/by-hash.ts'
import {
  HashesBody,
  HashParams,
  hashesOf,
  IndividualBody,
  type NamedFile,
  UpdateBody,
} from '#features/catalogue/versions/hashes/requests.ts'
import {
  ALGORITHMS,
  type Algorithm,
  FILTERS_PER_PROJECT_MAX,
  getFile,
  resolveFile,
} from '#features/catalogue/versions/hashes/resolve-files.ts'
import { FilterBody, filterOfBody } from '#features/catalogue/versions/lookup/list-requests.ts'
import { type CachedVersion, getVersion } from '#features/catalogue/versions/lookup/version-cache.ts'
import type { VersionFilter } from '#features/catalogue/versions/lookup/version-filter.ts'
import { FileAddress, filePath } from '#features/catalogue/versions/views.ts'
import { invalidInput } from '#lib/errors.ts'
import { viewerWith } from '#platform/http/auth/auth.ts'
import { sendBytes, sendObject } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { unquote } from '../requests.ts'
import { ProjectV2, projectBytes } from './project-views.ts'
import { VersionV2, versionBytes } from './version-views.ts'

const read = { auth: { read: ['VERSION_READ'] } } as const

export function hashRoutesV2(app: App, deps: Deps): void {
  singleFiles(app, deps)
  bulkFiles(app, deps)
  updates(app, deps)
}

/** Some clients send the name of the algorithm in quotes. */
export const FileQueryV2 = Type.Object({
  algorithm: Type.Optional(
    Type.String({ maxLength: 16, description: 'sha1 or sha512. Default: by the length of the hash' }),
  ),
  version_id: Type.Optional(
    Type.String({ maxLength: 64, description: 'ID of the version, if several versions have the file' }),
  ),
})

export function namedFile({ hash }: { hash: string }, query: Static<typeof FileQueryV2>): NamedFile {
  const { algorithm: word, version_id } = query
  const algorithm = word === undefined ? undefined : (unquote(word) as Algorithm)
  if (algorithm !== undefined && !ALGORITHMS.includes(algorithm)) {
    throw invalidInput(`algorithm must be one of ${ALGORITHMS.join(', ')}`, 'algorithm')
  }
  return {
    hash,
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(version_id === undefined ? {} : { version_id: unquote(version_id) }),
  }
}

function singleFiles(app: App, deps: Deps): void {
  const about = { params: HashParams, querystring: FileQueryV2 }
  app.get(
    '/version_file/:hash',
    {
      config: { ...read, cache: 'public' },
      schema: {
        operationId: 'getVersionByHashV2',
        summary: 'Get the version of a file, the newest if several versions have the file',
        ...about,
        response: { 200: VersionV2 },
      },
    },
    async (req, reply) => {
      const file = await resolveFile(deps, req.viewer, namedFile(req.params, req.query))
      const { bytes, etag } = versionBytes(deps, await getVersion(deps, req.viewer, file.versionId))
      return sendBytes(reply, bytes, etag)
    },
  )
  app.get(
    '/version_file/:hash/download',
    {
      config: read,
      schema: {
        operationId: 'downloadByHashV2',
        summary: 'Redirect to a file',
        ...about,
        response: { 307: FileAddress },
      },
    },
    async (req, reply) => {
      const { projectId, versionId, filename } = await getFile(deps, req.viewer, namedFile(req.params, req.query))
      const url = `${deps.config.files.baseUrl}${filePath(projectId, versionId, filename)}`
      return reply.status(307).header('location', url).send({ url })
    },
  )
  app.post(
    '/version_file/:hash/update',
    {
      config: read,
      schema: {
        operationId: 'findUpdateV2',
        summary: 'Get the update of a file',
        ...about,
        body: FilterBody,
        response: { 200: VersionV2 },
      },
    },
    async (req, reply) => {
      const version = await checkUpdate(deps, req.viewer, namedFile(req.params, req.query), filterOfBody(req.body))
      return sendBytes(reply, versionBytes(deps, version).bytes)
    },
  )
}

const ByHash = <Schema extends Type.TSchema>(schema: Schema) => Type.Record(Type.String(), schema)

function bulkFiles(app: App, deps: Deps): void {
  app.post(
    '/version_files',
    {
      config: read,
      schema: {
        operationId: 'listVersionsByHashV2',
        summary: 'List the versions of files',
        body: HashesBody,
        response: { 200: ByHash(VersionV2) },
      },
    },
    async (req, reply) => {
      const versions = await listVersionsByHash(deps, req.viewer, hashesOf(req.body))
      return sendObject(reply, versionEntries(deps, versions))
    },
  )
  const both = ['VERSION_READ', 'PROJECT_READ'] as const
  app.post(
    '/version_file/project',
    {
      config: { auth: { read: both } },
      schema: {
        operationId: 'listProjectsByHashV2',
        summary: 'List the projects of files',
        description: 'Hidden projects and versions require a token with both scopes.',
        body: HashesBody,
        response: { 200: ByHash(ProjectV2) },
      },
    },
    async (req, reply) => {
      const projects = await listProjectsByHash(deps, viewerWith(req.viewer, both), hashesOf(req.body))
      return sendObject(
        reply,
        projects.map(([hash, project]) => [hash, projectBytes(deps, project)] as const),
      )
    },
  )
}

/** Generates one entry at a time, so that a response that is too large fails early. */
function* versionEntries(deps: Deps, versions: ResultsByHash<CachedVersion>) {
  for (const [hash, version] of versions) yield [hash, versionBytes(deps, version)] as const
}

function* listEntries(deps: Deps, versions: ResultsByHash<CachedVersion>) {
  for (const [hash, version] of versions) yield [hash, [versionBytes(deps, version)]] as const
}

function updates(app: App, deps: Deps): void {
  const bulk = [
    { path: 'update', noun: 'Updates', answer: ByHash(VersionV2), entries: versionEntries },
    { path: 'update_many', noun: 'UpdateLists', answer: ByHash(Type.Array(VersionV2)), entries: listEntries },
  ] as const
  for (const { path, noun, answer, entries } of bulk) {
    app.post(
      `/version_files/${path}`,
      {
        config: read,
        schema: {
          operationId: `find${noun}V2`,
          summary: `List the updates of files${path === 'update' ? '' : ', with all candidates'}`,
          body: UpdateBody,
          response: { 200: answer },
        },
      },
      async (req, reply) => {
        const filter = filterOfBody(req.body)
        const versions = await checkUpdates(deps, req.viewer, hashesOf(req.body), () => filter)
        return sendObject(reply, entries(deps, versions))
      },
    )
  }
  app.post(
    '/version_files/update_individual',
    {
      config: read,
      schema: {
        operationId: 'findIndividualUpdatesV2',
        summary: 'List the updates of files, with a separate filter for each file',
        description: `Accepts at most ${FILTERS_PER_PROJECT_MAX} different filters per project.`,
        body: IndividualBody,
        response: { 200: ByHash(VersionV2) },
      },
    },
    async (req, reply) => {
      const filters = filtersByHash(req.body.hashes)
      const query = hashesOf({ hashes: [...filters.keys()], algorithm: req.body.algorithm ?? null })
      const versions = await checkUpdates(deps, req.viewer, query, (hash) => filters.get(hash) ?? {})
      return sendObject(reply, versionEntries(deps, versions))
    },
  )
}

/** Uses the first filter per hash: clients send the hash of a file twice if it is installed twice. */
function filtersByHash(wanted: Static<typeof IndividualBody>['hashes']): Map<string, VersionFilter> {
  const filters = new Map<string, VersionFilter>()
  for (const each of wanted.toReversed()) filters.set(each.hash, filterOfBody(each))
  return filters
}
