// What the caller has allowed applications, and ending it.
import Type from 'typebox'
import { transaction } from '#cache/transaction.ts'
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import type { App } from '#http/server.ts'
import { parseId } from '#lib/ids.ts'
import { Timestamp } from '#lib/schema-parts.ts'
import type { Deps } from '#main/deps.ts'
import { getApplication } from '../applications/queries.ts'
import { listAuthorizations, revokeAuthorization } from './authorizations.ts'

const AuthorizationView = Type.Object(
  {
    id: Type.String(),
    app_id: Type.String(),
    user_id: Type.String(),
    scopes: Type.Number({ description: 'Bit field of up to 48 bits' }),
    created: Timestamp,
  },
  { title: 'OAuthAuthorization' },
)

export function authorizationRoutes(app: App, deps: Deps): void {
  app.get(
    '/oauth/authorizations',
    {
      config: { auth: { scope: ['SESSION_ACCESS'] }, cache: 'private' },
      schema: {
        operationId: 'listAuthorizations',
        summary: 'The applications that may act for the caller, newest first',
        response: { 200: Type.Array(AuthorizationView) },
      },
    },
    async (req) => {
      const rows = await listAuthorizations(deps.db, requireViewer(req).id)
      return rows.map(({ id, app_id, user_id, scopes, created }) => ({
        id,
        app_id,
        user_id,
        scopes,
        created: created.toISOString(),
      }))
    },
  )
  app.delete(
    '/oauth/authorizations',
    {
      config: { auth: { scope: ['SESSION_ACCESS'] } },
      schema: {
        operationId: 'revokeAuthorization',
        summary: 'End what the caller allowed an application; its tokens end at once',
        querystring: Type.Object({ client_id: Type.String({ maxLength: 64, description: 'The application' }) }),
      },
    },
    async (req, reply) => {
      const { id: accountId } = requireViewer(req)
      const { id: clientId } = await getApplication(deps.db, parseId(req.query.client_id, 'client_id'))
      await transaction(deps, (tx, changed) => revokeAuthorization(tx, changed, { accountId, clientId }))
      return done(reply)
    },
  )
}
