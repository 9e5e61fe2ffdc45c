// The routes of locks: stored answers as JSON, and as packs that launchers install from the address.
import { notFound } from '#lib/errors.ts'
import { sendRaw } from '#platform/http/responses/declared-responses.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { toJson } from '../answer.ts'
import { LockParams, MetafileParams } from '../requests.ts'
import { AnswerView } from '../views.ts'
import { LockBody, toLock } from './create-lock.ts'
import { writeMrpack } from './mrpack.ts'
import { listPackFiles } from './pack.ts'
import { metafilePath, writeIndex, writeMetafile, writePack } from './packwiz.ts'
import { getLockContent, getLockFiles, storeLock } from './store-lock.ts'

const config = { auth: 'public', cache: 'shared' } as const
const packConfig = { ...config, cost: COSTS.resolve, errors: ['409 conflict'] } as const
const TOML = 'application/toml; charset=utf-8'

export function lockRoutes(app: App, deps: Deps): void {
  app.post('/v3/lock', {
    config: { auth: 'public', cost: COSTS.resolve, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'createLock',
      summary: 'Store a list of versions as a lock',
      description: 'Stores the versions as they are, without choosing others. Equal lists have the same lock.',
      body: LockBody,
      response: { 201: AnswerView },
    },
    handler: async (req, reply) => {
      const answer = await toLock(deps, req.body)
      await storeLock(deps, answer)
      return sendBytes(reply.status(201), toJson(answer, deps.config))
    },
  })
  app.get('/v3/lock/:id', {
    config,
    schema: {
      operationId: 'getLock',
      summary: 'Get a stored answer',
      params: LockParams,
      response: { 200: AnswerView },
    },
    handler: async (req, reply) => {
      const content = await getLockContent(deps, req.params.id)
      return sendBytes(reply, toJson({ content }, deps.config))
    },
  })
  app.get('/v3/lock/:id.mrpack', {
    config: packConfig,
    schema: {
      operationId: 'getLockMrpack',
      summary: 'Get a stored answer as an .mrpack',
      description: 'The same lock has the same bytes, as long as its files are public.',
      params: LockParams,
      produces: ['application/x-modrinth-modpack+zip'],
      response: {},
    },
    handler: async (req, reply) => {
      const lock = await getLockFiles(deps, req.params.id)
      const bytes = await writeMrpack(deps, lock)
      const type = deps.fileRules.extensions['mrpack']?.content_type ?? 'application/zip'
      void reply.type(type).header('content-disposition', `attachment; filename="${req.params.id}.mrpack"`)
      return sendRaw(reply, bytes)
    },
  })
  packwizRoutes(app, deps)
}

function packwizRoutes(app: App, deps: Deps): void {
  const schema = { produces: ['application/toml'], response: {} }
  app.get('/v3/lock/:id/pack.toml', {
    config: packConfig,
    schema: {
      operationId: 'getLockPack',
      summary: 'Get a stored answer as a packwiz pack',
      params: LockParams,
      ...schema,
    },
    handler: async (req, reply) => {
      const lock = await getLockFiles(deps, req.params.id)
      return sendRaw(reply.type(TOML), await writePack(deps, lock, await listPackFiles(deps, lock)))
    },
  })
  app.get('/v3/lock/:id/index.toml', {
    config: packConfig,
    schema: { operationId: 'getLockIndex', summary: 'Get the index of a packwiz pack', params: LockParams, ...schema },
    handler: async (req, reply) => {
      const files = await listPackFiles(deps, await getLockFiles(deps, req.params.id))
      return sendRaw(reply.type(TOML), await writeIndex(files))
    },
  })
  app.get('/v3/lock/:id/:folder/:file', {
    config: { ...config, errors: ['409 conflict'] },
    schema: {
      operationId: 'getLockMetafile',
      summary: 'Get the description of a file in a packwiz pack',
      params: MetafileParams,
      ...schema,
    },
    handler: async (req, reply) => {
      const { id, folder, file: name } = req.params
      const files = await listPackFiles(deps, await getLockFiles(deps, id))
      const file = files.find((each) => metafilePath(each) === `${folder}/${name}`)
      if (file === undefined) throw notFound('file')
      return sendRaw(reply.type(TOML), writeMetafile(file))
    },
  })
}
