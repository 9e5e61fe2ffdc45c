// Threads: conversations between moderators and those whose project or report it is about (facts/people.md 2.5).
import { setImmediate as nextTurn } from 'node:timers/promises'
import Type from 'typebox'
import { type CachedUser, getCachedUsers } from '#features/users/user-cache.ts'
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import { sendBytes } from '#http/entity-tags.ts'
import { IdParams, IdsQuery, parseIds } from '#http/query-values.ts'
import type { App } from '#http/server.ts'
import { invalidInput } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import { entityTag, joinJson } from '#lib/json-bytes.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { deleteMessage } from './delete-message.ts'
import { postMessage } from './post-message.ts'
import {
  ANSWER_BYTES_MAX,
  getReadableThread,
  listMessages,
  listReadableThreads,
  type MessageRow,
  type ThreadRow,
} from './queries.ts'
import { MessageInput, type ThreadMessageView, ThreadView, toMessageViews, toThreadBytes } from './views.ts'

type ThreadDeps = Pick<Deps, 'db' | 'cache'>

const READ = { auth: { scope: ['THREAD_READ'] }, cache: 'private' } as const
const WRITE = { auth: { scope: ['THREAD_WRITE'] } } as const

export function threadRoutes(app: App, deps: ThreadDeps): void {
  threadReads(app, deps)
  threadWrites(app, deps)
}

function threadReads(app: App, deps: ThreadDeps): void {
  app.get(
    '/v3/thread/:id',
    {
      config: READ,
      schema: {
        operationId: 'getThread',
        summary: 'A conversation with moderators',
        params: IdParams,
        response: { 200: ThreadView },
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const thread = await getReadableThread(deps.db, viewer, parseId(req.params.id, 'id'))
      const [bytes] = await readThreads(deps, viewer, [thread])
      return sendBytes(reply, bytes ?? Buffer.alloc(0))
    },
  )
  app.get(
    '/v3/threads',
    {
      config: READ,
      schema: {
        operationId: 'listThreads',
        summary: 'Conversations by ID',
        description: 'In the order asked for; those that are not for the caller are left out.',
        querystring: IdsQuery,
        response: { 200: Type.Array(ThreadView) },
      },
    },
    async (req, reply) => {
      const viewer = requireViewer(req)
      const ids = parseIds(req.query.ids).map((id) => parseId(id, 'ids'))
      const threads = await listReadableThreads(deps.db, viewer, ids)
      const bytes = threads.reduce((sum, thread) => sum + thread.size_bytes, 0)
      if (bytes > ANSWER_BYTES_MAX) throw invalidInput('These threads are too long for one answer: name fewer', 'ids')
      const answers = await readThreads(deps, viewer, threads)
      const etags: string[] = []
      for (const bytes of answers) {
        etags.push(entityTag(bytes))
        await nextTurn()
      }
      return sendBytes(reply, joinJson(answers.map((thread) => ({ bytes: thread }))), entityTag(etags.join()))
    },
  )
}

/** The threads as ready JSON: two statements for any number. */
async function readThreads(
  { db, cache }: ThreadDeps,
  viewer: Viewer,
  threads: readonly ThreadRow[],
): Promise<Buffer[]> {
  const byThread = new Map<string, MessageRow[]>(threads.map(({ id }) => [id, []]))
  for (const row of await listMessages(db, viewer, [...byThread.keys()])) byThread.get(row.thread_id)?.push(row)
  // A thread may hold megabytes, or thousands of messages; others get their turn between steps of the work.
  const views: { thread: ThreadRow; messages: ThreadMessageView[] }[] = []
  for (const thread of threads) {
    views.push({ thread, messages: toMessageViews(byThread.get(thread.id) ?? [], viewer) })
    await nextTurn()
  }
  const authors = new Set(views.flatMap(({ messages }) => authorsOf(messages)))
  const users = new Map((await getCachedUsers({ db, cache }, [...authors])).map((user) => [user.id, user]))
  const answers: Buffer[] = []
  for (const { thread, messages } of views) {
    answers.push(await toThreadBytes(thread, messages, membersOf(messages, users)))
    await nextTurn()
  }
  return answers
}

function authorsOf(messages: readonly ThreadMessageView[]): string[] {
  return messages.flatMap(({ author_id }) => author_id ?? [])
}

/** Its authors as far as they are shown, in the order in which they first wrote. */
function membersOf(messages: readonly ThreadMessageView[], users: ReadonlyMap<string, CachedUser>): CachedUser[] {
  return [...new Set(authorsOf(messages))].flatMap((id) => users.get(id) ?? [])
}

function threadWrites(app: App, deps: ThreadDeps): void {
  app.post(
    '/v3/thread/:id',
    {
      config: WRITE,
      schema: {
        operationId: 'postThreadMessage',
        summary: 'Write into a conversation',
        params: IdParams,
        body: MessageInput,
      },
    },
    async (req, reply) => {
      await postMessage(deps, requireViewer(req), parseId(req.params.id, 'id'), req.body.body)
      return done(reply)
    },
  )
  app.delete(
    '/v3/message/:id',
    {
      config: WRITE,
      schema: {
        operationId: 'deleteThreadMessage',
        summary: 'Take back a message',
        description: 'It keeps its place in the conversation, without its text.',
        params: IdParams,
      },
    },
    async (req, reply) => {
      await deleteMessage(deps, requireViewer(req), parseId(req.params.id, 'id'))
      return done(reply)
    },
  )
}
