// Lists and revokes the caller's authorizations of applications.
import Type from 'typebox'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { parseId } from '#lib/ids.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { getApplication } from '../applications/queries.ts'
import { ClientQuery } from '../applications/requests.ts'
import { listAuthorizations } from './queries.ts'
import { revokeAuthorization } from './revoke-authorization.ts'
import { AuthorizationView, toAuthorizationView } from './views.ts'

export function authorizationRoutes(app: App, deps: Deps): void {
  app.get('/oauth/authorizations', {
    config: { auth: { scope: ['SESSION_ACCESS'] }, cache: 'private' },
    schema: {
      operationId: 'listAuthorizations',
      summary: 'List the applications that the caller has authorized, newest first',
      response: { 200: Type.Array(AuthorizationView) },
    },
    handler: async (req) => {
      const rows = await listAuthorizations(deps.db, requireViewer(req).id)
      return rows.map(toAuthorizationView)
    },
  })
  app.delete('/oauth/authorizations', {
    config: { auth: { scope: ['SESSION_ACCESS'] }, errors: ['400 decoding_error', '404 not_found'] },
    schema: {
      operationId: 'revokeAuthorization',
      summary: "Revoke an application's authorization and its tokens",
      querystring: ClientQuery,
    },
    handler: async (req) => {
      const { id: clientId } = await getApplication(deps.db, parseId(req.query.client_id, 'client_id'))
      await revokeAuthorization(deps, requireViewer(req), clientId)
    },
  })
}
