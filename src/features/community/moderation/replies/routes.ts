// Routes to the saved replies of the instance, for moderators.
import { parseId } from '#lib/ids.ts'
import { IdParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { addStarterReplies, createReply, deleteReply, orderReplies, updateReply } from './create-reply.ts'
import { listReplies } from './queries.ts'
import { checkReply, NewReply, parseOrder, RepliesQuery, ReplyOrder, ReplyPatch } from './requests.ts'
import { AddedRepliesView, ReplyListView, ReplyView, toReplyView } from './views.ts'

type ReplyDeps = Pick<Deps, 'db' | 'cache' | 'now'>

const READ = { auth: { scope: ['THREAD_READ'] }, role: 'moderator' } as const
const WRITE = { auth: { scope: ['THREAD_WRITE'] }, role: 'moderator' } as const

export function replyRoutes(app: App, deps: ReplyDeps): void {
  listRoutes(app, deps)
  editRoutes(app, deps)
}

function listRoutes(app: App, deps: ReplyDeps): void {
  app.get('/moderation/replies', {
    config: READ,
    schema: {
      operationId: 'listSavedReplies',
      summary: 'List the saved replies of moderators',
      querystring: RepliesQuery,
      response: { 200: ReplyListView },
    },
    handler: async (req) => ({ replies: (await listReplies(deps.db, req.query)).map(toReplyView) }),
  })
  app.put('/moderation/replies/order', {
    config: WRITE,
    schema: {
      operationId: 'orderSavedReplies',
      summary: 'Set the order of the saved replies',
      description: 'Returns 409 if another moderator has added or deleted a reply.',
      body: ReplyOrder,
    },
    handler: (req): Promise<void> => orderReplies(deps, parseOrder(req.body)),
  })
}

function editRoutes(app: App, deps: ReplyDeps): void {
  app.post('/moderation/replies', {
    config: { ...WRITE, errors: ['400 LimitReached'] },
    schema: {
      operationId: 'createSavedReply',
      summary: 'Create a saved reply',
      description: 'An instance can have 500 replies.',
      body: NewReply,
      response: { 201: ReplyView },
    },
    handler: async (req, reply) => reply.status(201).send(toReplyView(await createReply(deps, checkReply(req.body)))),
  })
  app.post('/moderation/replies/starter', {
    config: { ...WRITE, errors: ['400 LimitReached'] },
    schema: {
      operationId: 'addStarterReplies',
      summary: 'Add the saved replies with which an instance can begin',
      description: 'In English and German. Skips replies whose language and title exist.',
      response: { 200: AddedRepliesView },
    },
    handler: async () => ({ added: await addStarterReplies(deps) }),
  })
  app.patch('/moderation/replies/:id', {
    config: WRITE,
    schema: { operationId: 'updateSavedReply', summary: 'Edit a saved reply', params: IdParams, body: ReplyPatch },
    handler: (req): Promise<void> => updateReply(deps, parseId(req.params.id, 'id'), checkReply(req.body)),
  })
  app.delete('/moderation/replies/:id', {
    config: WRITE,
    schema: { operationId: 'deleteSavedReply', summary: 'Delete a saved reply', params: IdParams },
    handler: (req): Promise<void> => deleteReply(deps.db, parseId(req.params.id, 'id')),
  })
}
