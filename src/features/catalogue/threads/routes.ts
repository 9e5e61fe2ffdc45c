// Routes to threads: conversations between moderators and the members of a project or the reporter of a report.
import Type from 'typebox'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { parseId } from '#lib/ids.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { IdParams, IdsQuery, parseIdList } from '#platform/http/query-values.ts'
import { sendBytes } from '#platform/http/responses/entity-tags.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { deleteMessage } from './delete-message.ts'
import { postMessage } from './post-message.ts'
import { getReadableThread, listReadableThreads } from './queries.ts'
import { MessageInput, parseMessage, UnansweredQuery } from './requests.ts'
import { joinThreads, listThreadBytes, requireSizeLimit, THREAD, type ThreadForm } from './thread-bytes.ts'
import { countUnansweredThreads, listUnansweredThreads } from './unanswered-queries.ts'
import { toUnansweredView, UnansweredThreadsView } from './views.ts'

type ThreadDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

const READ = { auth: { scope: ['THREAD_READ'] }, cache: 'private' } as const
const WRITE = { auth: { scope: ['THREAD_WRITE'] } } as const

export function threadRoutes(app: App, deps: ThreadDeps): void {
  threadReads(app, deps)
  threadWrites(app, deps)
  mountInternal(app, (scope) => unansweredRoute(scope, deps))
}

function unansweredRoute(app: App, { db }: ThreadDeps): void {
  app.get('/moderation/threads', {
    config: { auth: { scope: ['THREAD_READ'] }, role: 'moderator' },
    schema: {
      operationId: 'listUnansweredThreads',
      summary: 'List threads that wait for an answer of the moderators, longest waiting first',
      tags: ['moderation'],
      querystring: UnansweredQuery,
      response: { 200: UnansweredThreadsView },
    },
    handler: async (req) => {
      const { type, count = 50, offset = 0 } = req.query
      const total = await countUnansweredThreads(db, { type })
      const threads = await listUnansweredThreads(db, { type, count, offset })
      return { total, threads: threads.map(toUnansweredView) }
    },
  })
}

/** The v2 API has another prefix and another form of threads. */
export function threadReads(app: App, deps: ThreadDeps, prefix = '/v3', form: ThreadForm = THREAD): void {
  app.get(`${prefix}/thread/:id`, {
    config: READ,
    schema: { operationId: 'getThread', summary: 'Get a thread', params: IdParams, response: { 200: form.schema } },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const thread = await getReadableThread(deps.db, viewer, parseId(req.params.id, 'id'))
      const [bytes] = await listThreadBytes(deps, viewer, [thread], form)
      return sendBytes(reply, bytes ?? Buffer.alloc(0))
    },
  })
  app.get(`${prefix}/threads`, {
    config: { ...READ, errors: ['400 decoding_error'] },
    schema: {
      operationId: 'listThreads',
      summary: 'Get threads by ID',
      description: 'Returns threads in the requested order and skips threads that the caller cannot read.',
      querystring: IdsQuery,
      response: { 200: Type.Array(form.schema) },
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const ids = parseIdList(req.query.ids)
      const threads = await listReadableThreads(deps.db, viewer, ids)
      requireSizeLimit(threads)
      const { bytes, etag } = await joinThreads(await listThreadBytes(deps, viewer, threads, form))
      return sendBytes(reply, bytes, etag)
    },
  })
}

/** `prefix`: the v2 API has the same routes. */
export function threadWrites(app: App, deps: ThreadDeps, prefix = '/v3'): void {
  app.post(`${prefix}/thread/:id`, {
    config: { ...WRITE, errors: ['400 LimitReached'] },
    schema: {
      operationId: 'postThreadMessage',
      summary: 'Post a message to a thread',
      params: IdParams,
      body: MessageInput,
    },
    handler: async (req) => {
      const threadId = parseId(req.params.id, 'id')
      await postMessage(deps, requireViewer(req), { threadId, message: parseMessage(req.body) })
    },
  })
  app.delete(`${prefix}/message/:id`, {
    config: { ...WRITE, withoutPage: 'Pages withhold, close and reply instead, so that the record stays' },
    schema: {
      operationId: 'deleteThreadMessage',
      summary: 'Delete a message',
      description:
        'Removes the text and images of the message. The message remains in the thread with the type `deleted`.',
      params: IdParams,
    },
    handler: (req): Promise<void> => deleteMessage(deps, requireViewer(req), parseId(req.params.id, 'id')),
  })
}
