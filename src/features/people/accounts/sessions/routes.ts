// Sessions: list, sign out, refresh.
import Type from 'typebox'
import { parseToken } from '#lib/access/tokens.ts'
import { requireViewer, tokenText, unauthenticated } from '#platform/http/auth/auth.ts'
import { IdParams } from '#platform/http/query-values.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import type { App } from '#platform/http/server.ts'
import { type AccountDeps, clientOf } from '../account-deps.ts'
import { deleteSession } from './delete-session.ts'
import { listSessions } from './queries.ts'
import { refreshSession } from './refresh-session.ts'
import { parseSessionReference } from './requests.ts'
import { SessionView, toSessionView } from './views.ts'

export function sessionRoutes(app: App, deps: AccountDeps): void {
  app.get(
    '/session/list',
    {
      config: { auth: { scope: ['SESSION_READ'] } },
      schema: {
        operationId: 'listSessions',
        summary: "List the caller's sessions, newest first",
        response: { 200: Type.Array(SessionView) },
      },
    },
    async (req) => {
      const { id: accountId, token } = requireViewer(req)
      const rows = await listSessions(deps.db, { accountId, now: deps.now() })
      return rows.map((row) =>
        toSessionView(row, { secret: null, current: token.kind === 'session' && token.id === row.id }),
      )
    },
  )
  app.delete(
    '/session/:id',
    {
      config: { auth: { scope: ['SESSION_DELETE'] } },
      schema: {
        operationId: 'deleteSession',
        summary: 'End a session, given its ID or secret',
        params: IdParams,
      },
    },
    async (req, reply) => {
      const session = parseSessionReference(req.params.id)
      await deleteSession(deps, requireViewer(req), session)
      return done(reply)
    },
  )
  app.post(
    '/session/refresh',
    {
      // Checked below: a session that has expired may still be refreshed.
      config: { auth: 'public' },
      schema: {
        operationId: 'refreshSession',
        summary: 'Refresh the session of the request, even if it has expired: issue a new secret',
        response: { 200: SessionView },
      },
    },
    async (req) => {
      const secret = tokenText(req)
      if (secret === undefined) throw unauthenticated('This needs a session in the Authorization header')
      if (parseToken(secret)?.kind !== 'session') throw unauthenticated('This token is not a session')
      const view = await refreshSession(deps, { secret, client: clientOf(req) })
      if (view === undefined) throw unauthenticated('The session is unknown or too old to be refreshed')
      return view
    },
  )
}
