// Routes to collections: lists of projects that a user creates.
import Type from 'typebox'
import { UserParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { iconRoutes } from '#features/basics/images/icon-routes.ts'
import { getCachedUser } from '#features/people/users/user-cache.ts'
import { notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { writeJsonArray } from '#lib/text/json-pieces.ts'
import { expectedRevision, IdParams, IdsQuery, IfMatch, parseIdList } from '#platform/http/query-values.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createCollection } from './create-collection.ts'
import { listCollections, listCollectionsOf } from './queries.ts'
import { CollectionInput, CollectionPatch } from './requests.ts'
import { collectionIconOwner, deleteCollection, updateCollection } from './update-collection.ts'
import { CollectionView, toCollectionView } from './views.ts'

export function collectionRoutes(app: App, deps: Deps): void {
  collectionReads(app, deps)
  collectionWrites(app, deps)
  iconRoutes(app, deps, collectionIconOwner(deps))
}

function collectionReads(app: App, deps: Pick<Deps, 'db' | 'cache' | 'config'>): void {
  const config = { auth: { read: ['COLLECTION_READ'] }, limitedTokens: 'anonymous', cache: 'public' } as const
  const list = { 200: Type.Array(CollectionView) }
  app.get('/v3/collection/:id', {
    config,
    schema: {
      operationId: 'getCollection',
      summary: 'Get a collection',
      params: IdParams,
      response: { 200: CollectionView },
    },
    handler: async (req) => {
      const [collection] = await listCollections(deps.db, req.viewer, [parseId(req.params.id, 'id')])
      if (collection === undefined) throw notFound('collection')
      return toCollectionView(deps.config)(collection)
    },
  })
  app.get('/v3/collections', {
    config: { ...config, errors: ['400 decoding_error'] },
    schema: { operationId: 'listCollections', summary: 'Get collections by ID', querystring: IdsQuery, response: list },
    handler: async (req, reply) => {
      const ids = parseIdList(req.query.ids)
      const byId = new Map((await listCollections(deps.db, req.viewer, ids)).map((row) => [row.id, row]))
      return sendBytes(
        reply,
        await writeJsonArray(
          ids.flatMap((id) => byId.get(id) ?? []),
          toCollectionView(deps.config),
        ),
      )
    },
  })
  app.get('/v3/user/:id/collections', {
    config,
    schema: {
      operationId: 'listUserCollections',
      summary: "List a user's collections, newest first",
      description: 'Other users see only listed collections.',
      params: UserParams,
      response: list,
    },
    handler: async (req, reply) => {
      const { id } = await getCachedUser(deps, req.params.id)
      return sendBytes(
        reply,
        await writeJsonArray(await listCollectionsOf(deps.db, req.viewer, id), toCollectionView(deps.config)),
      )
    },
  })
}

function collectionWrites(app: App, deps: Deps): void {
  app.post('/v3/collection', {
    config: { auth: { scope: ['COLLECTION_CREATE'] }, errors: ['400 LimitReached'] },
    schema: {
      operationId: 'createCollection',
      summary: 'Create a collection',
      body: CollectionInput,
      response: { 201: CollectionView },
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const id = await createCollection(deps, viewer, req.body)
      const [collection] = await listCollections(deps.db, viewer, [id])
      if (collection === undefined) throw notFound('collection')
      return reply.status(201).send(toCollectionView(deps.config)(collection))
    },
  })
  app.patch('/v3/collection/:id', {
    config: { auth: { scope: ['COLLECTION_WRITE'] } },
    schema: {
      operationId: 'updateCollection',
      summary: 'Edit a collection',
      description:
        'The creator can edit all fields and set the status to `listed` or `unlisted`. Moderators can only change the status.',
      params: IdParams,
      headers: IfMatch,
      body: CollectionPatch,
    },
    handler: async (req) => {
      await updateCollection(deps, requireViewer(req), {
        id: parseId(req.params.id, 'id'),
        patch: req.body,
        revision: expectedRevision(req),
      })
    },
  })
  app.delete('/v3/collection/:id', {
    config: { auth: { scope: ['COLLECTION_DELETE'] } },
    schema: { operationId: 'deleteCollection', summary: 'Delete a collection', params: IdParams },
    handler: (req): Promise<void> => deleteCollection(deps, requireViewer(req), parseId(req.params.id, 'id')),
  })
}
