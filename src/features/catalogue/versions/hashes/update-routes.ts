// Update checks: the version that can replace an installed file. It is the first version in the project's version list
// with the same filter.
import Type from 'typebox'
import type { JsonEntity, JsonPart } from '#lib/text/json-bytes.ts'
import { sendBytes, sendObject } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { type CatalogueForms, V3 } from '../../forms.ts'
import { FilterBody, filterOfBody } from '../lookup/list-requests.ts'
import type { CachedVersion } from '../lookup/version-cache.ts'
import type { VersionFilter } from '../lookup/version-filter.ts'
import { VersionView } from '../views.ts'
import { checkUpdate, checkUpdates, convertEach } from './by-hash.ts'
import {
  ByHash,
  FileQuery,
  filterOfUpdateQuery,
  HashParams,
  hashesOf,
  IndividualBody,
  SingleUpdateQuery,
  UpdateBody,
  UpdateQuery,
} from './requests.ts'
import { FILTERS_PER_PROJECT_MAX } from './resolve-files.ts'

const config = {
  auth: { read: ['VERSION_READ'] },
  limitedTokens: 'versions',
  withoutPage: 'For launchers and build tools',
} as const
const cached = { ...config, cache: 'public' } as const

export function updateRoutes(app: App, deps: Deps): void {
  sharedUpdateRoutes(app, deps)
  queryUpdates(app, deps)
}

/** The routes that the v2 API has too, with another prefix and another form of versions. */
export function sharedUpdateRoutes(app: App, deps: Deps, api = V3): void {
  singleUpdate(app, deps, api)
  bulkUpdates(app, deps, api)
  individualUpdates(app, deps, api)
}

const singleSummary = 'Get the latest version that can replace a file'

function singleUpdate(app: App, deps: Deps, { prefix, version: { schema, toJson } }: CatalogueForms): void {
  app.post(`${prefix}/version_file/:hash/update`, {
    config: { ...config, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'findUpdate',
      summary: singleSummary,
      params: HashParams,
      querystring: FileQuery,
      body: FilterBody,
      response: { 200: schema },
    },
    handler: async (req, reply) => {
      const version = await checkUpdate(
        deps,
        req.viewer,
        { ...req.params, ...req.query },
        filterOfBody(req.body, deps.taxonomy),
      )
      return sendBytes(reply, toJson(version).bytes)
    },
  })
}

/** Returns the two bulk checks. Only one project can contain a file, so each list has one version. */
function bulkChecks({ version: { schema, toJson } }: CatalogueForms) {
  const one = {
    path: 'version_files/update',
    noun: 'Updates',
    schema: { summary: 'Get the latest versions that can replace files', response: { 200: ByHash(schema) } },
    convert: (version: CachedVersion): JsonPart<JsonEntity> => toJson(version),
  }
  const many = {
    path: 'version_files/update_many',
    noun: 'UpdateLists',
    schema: {
      summary: 'Get the latest versions that can replace files, as lists',
      response: { 200: ByHash(Type.Array(schema)) },
    },
    convert: (version: CachedVersion): JsonPart<JsonEntity> => [toJson(version)],
  }
  return [one, many]
}

function bulkUpdates(app: App, deps: Deps, api: CatalogueForms): void {
  for (const { path, noun, schema, convert } of bulkChecks(api)) {
    app.post(`${api.prefix}/${path}`, {
      config,
      schema: { operationId: `find${noun}`, ...schema, body: UpdateBody },
      handler: async (req, reply) => {
        const filter = filterOfBody(req.body, deps.taxonomy)
        const updates = await checkUpdates(deps, req.viewer, hashesOf(req.body), () => filter)
        return sendObject(reply, convertEach(updates, convert))
      },
    })
  }
}

/** The checks with their parameters in the query, which only the v3 API has. */
function queryUpdates(app: App, deps: Deps): void {
  app.get('/v3/version_file/:hash/update', {
    config: { ...cached, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'getUpdate',
      summary: singleSummary,
      params: HashParams,
      querystring: SingleUpdateQuery,
      response: { 200: VersionView },
    },
    handler: async (req, reply) => {
      const file = { ...req.params, ...req.query }
      const { bytes, etag } = await checkUpdate(deps, req.viewer, file, filterOfUpdateQuery(req.query, deps.taxonomy))
      return sendBytes(reply, bytes, etag)
    },
  })
  for (const { path, noun, schema, convert } of bulkChecks(V3)) {
    app.get(`/v3/${path}`, {
      config: cached,
      schema: { operationId: `get${noun}`, ...schema, querystring: UpdateQuery },
      handler: async (req, reply) => {
        const filter = filterOfUpdateQuery(req.query, deps.taxonomy)
        const updates = await checkUpdates(deps, req.viewer, hashesOf(req.query), () => filter)
        return sendObject(reply, convertEach(updates, convert))
      },
    })
  }
}

function individualUpdates(app: App, deps: Deps, { prefix, version: { schema, toJson } }: CatalogueForms): void {
  app.post(`${prefix}/version_files/update_individual`, {
    config,
    schema: {
      operationId: 'findIndividualUpdates',
      summary: 'Get the latest versions that can replace files, with a filter for each file',
      description: `The files of one project can have at most ${FILTERS_PER_PROJECT_MAX} different filters.`,
      body: IndividualBody,
      response: { 200: ByHash(schema) },
    },
    handler: async (req, reply) => {
      const filters = new Map<string, VersionFilter>()
      // Clients can send the same file twice; the filter of the first entry applies.
      for (const [index, entry] of [...req.body.hashes.entries()].toReversed())
        filters.set(entry.hash, filterOfBody(entry, deps.taxonomy, `hashes.${index}.`))
      const query = hashesOf({ hashes: [...filters.keys()], algorithm: req.body.algorithm ?? null })
      const updates = await checkUpdates(deps, req.viewer, query, (hash) => filters.get(hash) ?? {})
      return sendObject(reply, convertEach(updates, toJson))
    },
  })
}
