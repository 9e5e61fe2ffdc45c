// Lists, ends and refreshes sessions.
import Type from 'typebox'
import { requireViewer, tokenText, unauthenticated } from '#features/basics/authentication/access-control.ts'
import { parseToken } from '#lib/access/tokens.ts'
import { IdParams } from '#platform/http/query-values.ts'
import type { App } from '#platform/http/server.ts'
import { type AccountDeps, clientOf } from '../account-deps.ts'
import { parseTokenReference } from '../requests.ts'
import { deleteSession } from './delete-session.ts'
import { listSessions } from './queries.ts'
import { refreshSession } from './refresh-session.ts'
import { SessionView, toSessionView } from './views.ts'

export function sessionRoutes(app: App, deps: AccountDeps): void {
  app.get('/session/list', {
    config: { auth: { scope: ['SESSION_READ'] } },
    schema: {
      operationId: 'listSessions',
      summary: "List the caller's sessions, newest first",
      response: { 200: Type.Array(SessionView) },
    },
    handler: async (req) => {
      const { id: accountId, token } = requireViewer(req)
      const rows = await listSessions(deps.db, { accountId, now: deps.now() })
      return rows.map((row) =>
        toSessionView(row, { secret: null, current: token.kind === 'session' && token.id === row.id }),
      )
    },
  })
  app.delete('/session/:id', {
    config: { auth: { scope: ['SESSION_DELETE'] } },
    schema: { operationId: 'deleteSession', summary: 'End a session by its ID or secret', params: IdParams },
    handler: async (req) => {
      const session = parseTokenReference(req.params.id, 'session')
      await deleteSession(deps, requireViewer(req), session)
    },
  })
  app.post('/session/refresh', {
    // The handler checks the token, because an expired session can still be refreshed.
    config: { auth: 'public', withoutPage: 'Cookies renew the sessions of pages' },
    schema: {
      operationId: 'refreshSession',
      summary: 'Refresh the session of the request, even if it has expired',
      description: 'Returns a new secret. The old secret is no longer valid.',
      response: { 200: SessionView },
    },
    handler: async (req) => {
      const secret = tokenText(req)
      if (secret === undefined) throw unauthenticated('The Authorization header must contain a session')
      if (parseToken(secret)?.kind !== 'session') throw unauthenticated('This token is not a session')
      const view = await refreshSession(deps, { secret, client: clientOf(req) })
      if (view === undefined) throw unauthenticated('The session is unknown or can no longer be refreshed')
      return view
    },
  })
}
