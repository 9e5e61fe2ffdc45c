// Routes to packs: projects for a setup that a user saves, with numbered saves that launchers install and follow.
import Type from 'typebox'
import { UserParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { writeJsonArray } from '#lib/text/json-pieces.ts'
import { expectedRevision, IdParams, IfMatch } from '#platform/http/query-values.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createPack } from './create-pack.ts'
import { findPack, listPacksOf, listSaves } from './queries.ts'
import { PackInput, PackPatch, SAVES_MAX } from './requests.ts'
import { deletePack, savePack, updatePack } from './update-pack.ts'
import { PackSaveView, PackView, toPackSaveView, toPackView } from './views.ts'

export function packRoutes(app: App, deps: Deps): void {
  packReads(app, deps)
  packWrites(app, deps)
}

const COMPLETE =
  'Each save is complete: if a project has no version for the setup, the request fails and names the project. ' +
  'The files of the newest save are at `/pack/{user}/{slug}` of the web site.'

function packReads(app: App, deps: Deps): void {
  const config = { auth: { read: ['COLLECTION_READ'] }, limitedTokens: 'anonymous', cache: 'public' } as const
  app.get('/v3/pack/:id', {
    config,
    schema: { operationId: 'getPack', summary: 'Get a pack', params: IdParams, response: { 200: PackView } },
    handler: async (req) => {
      const pack = await findPack(deps.db, req.viewer, parseId(req.params.id, 'id'))
      if (pack === undefined) throw notFound('pack')
      return toPackView(pack)
    },
  })
  app.get('/v3/pack/:id/saves', {
    config,
    schema: {
      operationId: 'listPackSaves',
      summary: 'List the saves of a pack, newest first',
      params: IdParams,
      response: { 200: Type.Array(PackSaveView) },
    },
    handler: async (req) => {
      const pack = await findPack(deps.db, req.viewer, parseId(req.params.id, 'id'))
      if (pack === undefined) throw notFound('pack')
      return (await listSaves(deps.db, pack.id, SAVES_MAX)).map(toPackSaveView)
    },
  })
  app.get('/v3/user/:id/packs', {
    config,
    schema: {
      operationId: 'listUserPacks',
      summary: "List a user's packs, newest first",
      description: 'Other users see only listed packs.',
      params: UserParams,
      response: { 200: Type.Array(PackView) },
    },
    handler: async (req, reply) => {
      const { id } = await getCachedUser(deps, req.params.id)
      return sendBytes(reply, await writeJsonArray(await listPacksOf(deps.db, req.viewer, id), toPackView))
    },
  })
}

function packWrites(app: App, deps: Deps): void {
  app.post('/v3/pack', {
    config: {
      auth: { scope: ['COLLECTION_CREATE'] },
      cost: COSTS.resolve,
      errors: ['400 LimitReached', '409 conflict'],
    },
    schema: {
      operationId: 'createPack',
      summary: 'Create a pack with its first save',
      description: COMPLETE,
      body: PackInput,
      response: { 201: PackView },
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const id = await createPack(deps, viewer, req.body)
      const pack = await findPack(deps.db, viewer, id)
      if (pack === undefined) throw notFound('pack')
      return reply.status(201).send(toPackView(pack))
    },
  })
  app.patch('/v3/pack/:id', {
    config: {
      auth: { scope: ['COLLECTION_WRITE'] },
      cost: COSTS.resolve,
      errors: ['400 LimitReached', '409 conflict'],
    },
    schema: {
      operationId: 'updatePack',
      summary: 'Edit a pack',
      description:
        'Another name, setup or list of projects becomes the next save, with the newest versions. The owner can edit all ' +
        `fields and set the status to \`listed\` or \`unlisted\`. Moderators can only change the status. ${COMPLETE}`,
      params: IdParams,
      headers: IfMatch,
      body: PackPatch,
    },
    handler: async (req) => {
      const revision = expectedRevision(req)
      await updatePack(deps, requireViewer(req), { id: parseId(req.params.id, 'id'), patch: req.body, revision })
    },
  })
  app.post('/v3/pack/:id/saves', {
    config: {
      auth: { scope: ['COLLECTION_WRITE'] },
      cost: COSTS.resolve,
      errors: ['400 LimitReached', '409 conflict'],
    },
    schema: {
      operationId: 'savePack',
      summary: 'Choose the newest versions of a pack again',
      description: 'Returns 200 and the newest save if no version has changed.',
      params: IdParams,
      response: { 200: PackSaveView, 201: PackSaveView },
    },
    handler: async (req, reply) => {
      const save = await savePack(deps, requireViewer(req), parseId(req.params.id, 'id'))
      return reply.status(save.isNew ? 201 : 200).send(toPackSaveView(save))
    },
  })
  app.delete('/v3/pack/:id', {
    config: { auth: { scope: ['COLLECTION_DELETE'] } },
    schema: { operationId: 'deletePack', summary: 'Delete a pack with its saves', params: IdParams },
    handler: (req): Promise<void> => deletePack(deps, requireViewer(req), parseId(req.params.id, 'id')),
  })
}
