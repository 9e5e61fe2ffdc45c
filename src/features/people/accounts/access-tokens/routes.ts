// Lists, creates, edits and revokes personal access tokens.

import Type from 'typebox'
import { toScopeBits } from '#features/basics/access/scope-field.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { parseId } from '#lib/ids.ts'
import { IdParams } from '#platform/http/query-values.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { AccountDeps } from '../account-deps.ts'
import { parseTokenReference } from '../requests.ts'
import { createOwnAccessToken } from './create-access-token.ts'
import { listAccessTokens } from './queries.ts'
import { NewToken, TokenPatch } from './requests.ts'
import { deleteAccessToken, updateAccessToken } from './update-access-token.ts'
import { AccessTokenView, toAccessTokenView } from './views.ts'

export function accessTokenRoutes(app: App, deps: AccountDeps): void {
  app.get('/pat', {
    config: { auth: { scope: ['PAT_READ'] } },
    schema: {
      operationId: 'listAccessTokens',
      summary: "List the caller's access tokens, newest first",
      response: { 200: Type.Array(AccessTokenView) },
    },
    handler: async (req) =>
      (await listAccessTokens(deps.db, requireViewer(req).id)).map((row) => toAccessTokenView(row, null)),
  })
  app.post('/pat', {
    config: {
      auth: { scope: ['PAT_CREATE'] },
      cost: COSTS.password,
      errors: ['400 LimitReached', '401 invalid_credentials'],
    },
    schema: {
      operationId: 'createAccessToken',
      summary: 'Create an access token; its secret is returned only once',
      description:
        'Requires a confirmed password. Depot notifies the user by email. With `limits`, the token is fine-grained: it covers only these projects and organizations, or works only from these networks.',
      body: NewToken,
      response: { 201: AccessTokenView },
    },
    handler: async (req, reply) => {
      const { name, expires, limits = null, scopes: scopeValue, ...proof } = req.body
      const scopes = toScopeBits(scopeValue, 'scopes')
      const input = { name, scopes, expires: new Date(expires), limits, proof }
      const { row, token } = await createOwnAccessToken(deps, requireViewer(req), input)
      return reply.status(201).send(toAccessTokenView(row, token))
    },
  })
  app.patch('/pat/:id', {
    config: {
      auth: { scope: ['PAT_WRITE'] },
      errors: ['401 invalid_credentials'],
      withoutPage: 'On pages, a new token replaces an old one',
    },
    schema: {
      operationId: 'updateAccessToken',
      summary: 'Change the name or the expiry of an access token',
      description: 'A later expiry requires a confirmed password.',
      params: IdParams,
      body: TokenPatch,
    },
    handler: async (req) => {
      const id = parseId(req.params.id, 'id')
      await updateAccessToken(deps, requireViewer(req), { id, patch: req.body })
    },
  })
  app.delete('/pat/:id', {
    config: { auth: { scope: ['PAT_DELETE'] } },
    schema: {
      operationId: 'deleteAccessToken',
      summary: 'Revoke an access token by its ID or secret',
      params: IdParams,
    },
    handler: async (req) => {
      const token = parseTokenReference(req.params.id, 'pat')
      const viewer = requireViewer(req)
      await deleteAccessToken(deps, { accountId: viewer.id, token, actor: actorOf(viewer) })
    },
  })
}
