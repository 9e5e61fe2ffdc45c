// Advisories: creating, deciding, reading and finding them by hashes.
import { Readable } from 'node:stream'
import Type from 'typebox'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getProject, projectViewer } from '#features/catalogue/projects/lookup/project-cache.ts'
import { notFound } from '#lib/errors.ts'
import { JsonEntity } from '#lib/text/json-bytes.ts'
import { sendRaw } from '#platform/http/responses/declared-responses.ts'
import { sendObject } from '#platform/http/responses/entity-tags.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createAdvisory } from './create-advisory.ts'
import { AdvisoriesView, AdvisoryView, toAdvisoryView } from './document.ts'
import { getVisibleAdvisory } from './get-visible-advisory.ts'
import { requireAdvisoryReviewer } from './policy.ts'
import { decideAdvisory } from './publish-advisory.ts'
import { type AdvisoryRow, listAdvisories, matchAdvisories } from './queries.ts'
import {
  AdvisoriesQuery,
  AdvisoryParams,
  AdvisoryPatch,
  isAdvisoryId,
  MatchBody,
  NewAdvisory,
  readSince,
} from './requests.ts'

/** Advisories that the export reads at a time. */
const BATCH = 100

export function advisoryRoutes(app: App, deps: Deps): void {
  writeRoutes(app, deps)
  readRoutes(app, deps)
  matchRoutes(app, deps)
}

function writeRoutes(app: App, deps: Deps): void {
  app.post('/v3/advisory', {
    config: {
      auth: { scope: ['VERSION_WRITE'] },
      limitedTokens: 'resource',
      errors: ['400 LimitReached', '404 not_found'],
    },
    schema: {
      operationId: 'createAdvisory',
      summary: 'Create an advisory about versions or files',
      description:
        'For members with UPLOAD_VERSION and moderators. The advisory of a member has the status `review` until a ' +
        'moderator publishes it; that of a moderator is published.',
      body: NewAdvisory,
      response: { 201: AdvisoryView },
    },
    handler: async (req, reply) => {
      const row = await createAdvisory(deps, requireViewer(req), req.body)
      return reply.status(201).send(toAdvisoryView(row, deps.config.http.baseUrl))
    },
  })
  app.patch('/v3/advisory/:id', {
    config: { auth: { scope: ['VERSION_WRITE'] }, role: 'moderator' },
    schema: {
      operationId: 'decideAdvisory',
      summary: 'Publish, reject or withdraw an advisory',
      params: AdvisoryParams,
      body: AdvisoryPatch,
      response: { 200: AdvisoryView },
    },
    handler: async (req) => {
      const { id } = req.params
      if (!isAdvisoryId(id)) throw notFound('advisory')
      const row = await decideAdvisory(deps, requireViewer(req), {
        id,
        status: req.body.status as AdvisoryPatch['status'],
      })
      return toAdvisoryView(row, deps.config.http.baseUrl)
    },
  })
}

function readRoutes(app: App, deps: Deps): void {
  const config = { auth: { read: ['VERSION_READ'] }, limitedTokens: 'resource', cache: 'public' } as const
  app.get('/v3/advisory/:id', {
    config,
    schema: {
      operationId: 'getAdvisory',
      summary: 'Get an advisory as an OSV document',
      params: AdvisoryParams,
      response: { 200: AdvisoryView },
    },
    handler: async (req) => {
      const row = await getVisibleAdvisory(deps, req.viewer, req.params.id)
      return toAdvisoryView(row, deps.config.http.baseUrl)
    },
  })
  app.get('/v3/advisories', {
    config: { ...config, errors: ['403 unauthorized', '404 not_found'] },
    schema: {
      operationId: 'listAdvisories',
      summary: 'List advisories in the order of their last change, the oldest first',
      querystring: AdvisoriesQuery,
      response: { 200: AdvisoriesView },
    },
    handler: async ({ viewer, query: { project, since, limit = 100, status = 'public' } }) => {
      if (status === 'review') requireAdvisoryReviewer(viewer)
      const projectId = project === undefined ? undefined : (await getProject(deps, projectViewer(viewer), project)).id
      const filter = { projectId, since: readSince(since), status: status as 'public' | 'review' }
      const rows = await listAdvisories(deps.db, { ...filter, limit: limit + 1 })
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return {
        advisories: rows.slice(0, limit).map((row) => toAdvisoryView(row, deps.config.http.baseUrl)),
        next: last === undefined ? null : `${last.position}-${last.id}`,
      }
    },
  })
}

function matchRoutes(app: App, { db, config }: Deps): void {
  app.post('/v3/advisories/match', {
    config: {
      auth: 'public',
      whenReadOnly: 'answers',
      withoutPage: 'For programs; the pages of versions show advisories',
    },
    schema: {
      operationId: 'matchAdvisories',
      summary: 'Find the published advisories about files',
      description: 'The response has the hashes that are affected, in lower case, with up to 20 advisories each.',
      body: MatchBody,
      response: { 200: Type.Record(Type.String(), Type.Array(AdvisoryView)) },
    },
    handler: async (req, reply) => {
      const hashes = [...new Set(req.body.hashes.map((hash) => hash.toLowerCase()))]
      const matches = await matchAdvisories(db, hashes)
      const documents = new Map<string, JsonEntity>()
      const toEntity = (row: AdvisoryRow): JsonEntity => {
        const known = documents.get(row.id) ?? toLine(row, config.http.baseUrl)
        documents.set(row.id, known)
        return known
      }
      const found = [...matches].map(([hash, rows]) => [hash, rows.map(toEntity)] as const)
      return sendObject(reply, found)
    },
  })
  app.get('/v3/advisories/all.jsonl', {
    config: {
      auth: 'public',
      cost: COSTS.everything,
      withoutPage: 'For programs; the pages of versions show advisories',
    },
    schema: {
      operationId: 'exportAdvisories',
      summary: 'Download all public advisories, one OSV document per line',
      produces: ['application/jsonl'],
      response: { 200: Type.Unsafe<unknown>({ type: 'string' }) },
    },
    handler: async (_req, reply) => {
      async function* lines(): AsyncGenerator<Buffer> {
        let last: AdvisoryRow | undefined
        do {
          const since = last === undefined ? undefined : { position: `${last.position}`, id: last.id }
          const rows = await listAdvisories(db, { since, status: 'public', limit: BATCH })
          for (const row of rows) yield Buffer.concat([toLine(row, config.http.baseUrl).bytes, Buffer.from('\n')])
          last = rows.length === BATCH ? rows.at(-1) : undefined
        } while (last !== undefined)
      }
      void reply.type('application/jsonl; charset=utf-8')
      return sendRaw(reply, Readable.from(lines(), { objectMode: false }))
    },
  })
}

const toLine = (row: AdvisoryRow, baseUrl: string): JsonEntity =>
  new JsonEntity(Buffer.from(JSON.stringify(toAdvisoryView(row, baseUrl))))
