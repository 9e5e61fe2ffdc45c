// Routes to the record of a user, to the note about them and to the operators, for moderators.

import { UserParams } from '#features/basics/access/requests.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { askOperators } from './ask-operators.ts'
import { getNote, getUserRecord } from './queries.ts'
import { checkNote, NoteInput, OperatorMessage, parseOperatorMessage } from './requests.ts'
import { NoteView, toNoteView, toUserRecordView, UserRecordView } from './views.ts'
import { writeNote } from './write-note.ts'

type UserRecordDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

const READ = { auth: { scope: ['USER_READ'] }, role: 'moderator' } as const
const WRITE = { auth: { scope: ['USER_WRITE'] }, role: 'moderator' } as const

export function userRecordRoutes(app: App, deps: UserRecordDeps): void {
  recordRoute(app, deps)
  noteRoutes(app, deps)
}

function recordRoute(app: App, deps: UserRecordDeps): void {
  app.get('/moderation/users/:id', {
    config: READ,
    schema: {
      operationId: 'getUserRecord',
      summary: 'Get the record of a user',
      description: 'Decisions on their projects, reports by and about them, quarantined versions and suspensions.',
      params: UserParams,
      response: { 200: UserRecordView },
    },
    handler: async (req) => {
      const account = await getAccountByName(deps.db, req.params.id, { withLeaving: true })
      return toUserRecordView(account, await getUserRecord(deps.db, account.id), deps)
    },
  })
}

function noteRoutes(app: App, deps: UserRecordDeps): void {
  app.get('/moderation/users/:id/notes', {
    config: READ,
    schema: {
      operationId: 'getUserNote',
      summary: "Get the moderators' note about a user",
      params: UserParams,
      response: { 200: NoteView },
    },
    handler: async (req) => {
      const { id } = await getAccountByName(deps.db, req.params.id, { withLeaving: true })
      return toNoteView(await getNote(deps.db, id))
    },
  })
  app.put('/moderation/users/:id/notes', {
    config: WRITE,
    schema: {
      operationId: 'writeUserNote',
      summary: "Change the moderators' note about a user",
      description: 'Returns 409 with the current note if another moderator has changed it since `revision`.',
      params: UserParams,
      body: NoteInput,
      response: { 200: NoteView },
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { id: accountId } = await getAccountByName(deps.db, req.params.id, { withLeaving: true })
      return toNoteView(await writeNote(deps, viewer, { accountId, note: checkNote(req.body) }))
    },
  })
  app.post('/moderation/users/:id/operator-message', {
    config: WRITE,
    schema: {
      operationId: 'askOperators',
      summary: 'Send a message about a user to the operators',
      description: 'For decisions that only admins can make, such as a suspension. The admins receive an email.',
      params: UserParams,
      body: OperatorMessage,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const message = parseOperatorMessage(req.body)
      const { id: accountId } = await getAccountByName(deps.db, req.params.id, { withLeaving: true })
      await askOperators(deps, viewer, { accountId, message })
    },
  })
}
