// Update checks: the version that can replace an installed file. It is the first version in the project's version list
// with the same filter.
import Type from 'typebox'
import type { Viewer } from '#lib/access/viewer.ts'
import type { JsonPart } from '#lib/text/json-bytes.ts'
import { sendBytes, sendObject } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { FilterBody, filterOfBody } from '../lookup/list-requests.ts'
import type { CachedVersion } from '../lookup/version-cache.ts'
import type { VersionFilter } from '../lookup/version-filter.ts'
import { VersionView } from '../views.ts'
import { checkUpdate, checkUpdates, type ResultsByHash } from './by-hash.ts'
import {
  FileQuery,
  filterOfUpdateQuery,
  HashParams,
  hashesOf,
  IndividualBody,
  SingleUpdateQuery,
  UpdateBody,
  UpdateQuery,
} from './requests.ts'
import { FILTERS_PER_PROJECT_MAX, type HashQuery } from './resolve-files.ts'

const config = { auth: { read: ['VERSION_READ'] } } as const
const cached = { ...config, cache: 'public' } as const

export function updateRoutes(app: App, deps: Deps): void {
  singleUpdate(app, deps)
  bulkUpdates(app, deps)
  individualUpdates(app, deps)
}

function singleUpdate(app: App, deps: Deps): void {
  const path = '/v3/version_file/:hash/update'
  const about = {
    summary: 'Get the latest version that can replace a file',
    params: HashParams,
    response: { 200: VersionView },
  }
  app.post(
    path,
    { config, schema: { operationId: 'findUpdate', ...about, querystring: FileQuery, body: FilterBody } },
    async (req, reply) => {
      const version = await checkUpdate(deps, req.viewer, { ...req.params, ...req.query }, filterOfBody(req.body))
      return sendBytes(reply, version.bytes)
    },
  )
  app.get(
    path,
    { config: cached, schema: { operationId: 'getUpdate', ...about, querystring: SingleUpdateQuery } },
    async (req, reply) => {
      const version = await checkUpdate(
        deps,
        req.viewer,
        { ...req.params, ...req.query },
        filterOfUpdateQuery(req.query),
      )
      return sendBytes(reply, version.bytes, version.etag)
    },
  )
}

function bulkUpdates(app: App, deps: Deps): void {
  const one = {
    path: '/v3/version_files/update',
    noun: 'Updates',
    schema: {
      summary: 'Get the latest versions that can replace files',
      response: { 200: byHash(VersionView) },
    },
    answerOf: (updates: ResultsByHash<CachedVersion>): ResultsByHash<JsonPart<CachedVersion>> => updates,
  }
  // Only one project can contain a file, so each list has one version.
  const many = {
    path: '/v3/version_files/update_many',
    noun: 'UpdateLists',
    schema: {
      summary: 'Get the latest versions that can replace files, as lists',
      response: { 200: byHash(Type.Array(VersionView)) },
    },
    answerOf: (updates: ResultsByHash<CachedVersion>): ResultsByHash<JsonPart<CachedVersion>> =>
      updates.map(([hash, version]) => [hash, [version]]),
  }
  for (const { path, noun, schema, answerOf } of [one, many]) {
    const updatesFor = async (viewer: Viewer | null, query: HashQuery, filter: VersionFilter) =>
      answerOf(await checkUpdates(deps, viewer, query, () => filter))
    app.post(
      path,
      { config, schema: { operationId: `find${noun}`, ...schema, body: UpdateBody } },
      async (req, reply) => sendObject(reply, await updatesFor(req.viewer, hashesOf(req.body), filterOfBody(req.body))),
    )
    app.get(
      path,
      { config: cached, schema: { operationId: `get${noun}`, ...schema, querystring: UpdateQuery } },
      async (req, reply) =>
        sendObject(reply, await updatesFor(req.viewer, hashesOf(req.query), filterOfUpdateQuery(req.query))),
    )
  }
}

function byHash<Schema extends Type.TSchema>(schema: Schema) {
  return Type.Record(Type.String(), schema)
}

function individualUpdates(app: App, deps: Deps): void {
  app.post(
    '/v3/version_files/update_individual',
    {
      config,
      schema: {
        operationId: 'findIndividualUpdates',
        summary: 'Get the latest versions that can replace files, with a filter for each file',
        description: `The files of one project can have at most ${FILTERS_PER_PROJECT_MAX} different filters.`,
        body: IndividualBody,
        response: { 200: byHash(VersionView) },
      },
    },
    async (req, reply) => {
      const filters = new Map<string, VersionFilter>()
      // Clients can send the same file twice; the filter of the first entry applies.
      for (const entry of req.body.hashes.toReversed()) filters.set(entry.hash, filterOfBody(entry))
      const query = hashesOf({ hashes: [...filters.keys()], algorithm: req.body.algorithm ?? null })
      const updates = await checkUpdates(deps, req.viewer, query, (hash) => filters.get(hash) ?? {})
      return sendObject(reply, updates)
    },
  )
}
