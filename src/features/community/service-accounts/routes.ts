// Routes to the service accounts of organizations and to their tokens.
import Type from 'typebox'
import { OrganizationParams } from '#features/basics/access/requests.ts'
import { toScopeBits } from '#features/basics/access/scope-field.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { deleteAccountOf } from '#features/community/personal-data/delete-account.ts'
import { NewToken } from '#features/people/accounts/access-tokens/requests.ts'
import { deleteAccessToken } from '#features/people/accounts/access-tokens/update-access-token.ts'
import { AccessTokenView, toAccessTokenView } from '#features/people/accounts/access-tokens/views.ts'
import { parseId } from '#lib/ids.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { createServiceAccount } from './create-service-account.ts'
import { type IssuingDeps, issueServiceToken } from './issue-service-token.ts'
import { getManagedOrganization, getServiceAccount, listServiceAccounts } from './queries.ts'
import { NewServiceAccount, ServiceAccountParams, ServiceTokenParams } from './requests.ts'
import { ServiceAccountView, toServiceAccountView } from './views.ts'

const PATH = '/v3/organization/:id/service-accounts'
const WHO = 'Members with MANAGE_INVITES and EDIT_MEMBER only.'

export function serviceAccountRoutes(app: App, deps: IssuingDeps): void {
  accountRoutes(app, deps)
  tokenRoutes(app, deps)
}

function accountRoutes(app: App, deps: Deps): void {
  app.get(PATH, {
    config: { auth: { scope: ['ORGANIZATION_READ'] }, cache: 'private' },
    schema: {
      operationId: 'listServiceAccounts',
      summary: 'List the service accounts of an organization with their tokens',
      description: WHO,
      params: OrganizationParams,
      response: { 200: Type.Array(ServiceAccountView) },
    },
    handler: async (req) => {
      const { organization } = await getManagedOrganization(deps.db, requireViewer(req), req.params.id)
      return (await listServiceAccounts(deps.db, organization.id)).map(toServiceAccountView)
    },
  })
  app.post(PATH, {
    config: { auth: { scope: ['ORGANIZATION_WRITE'] }, errors: ['400 LimitReached'] },
    schema: {
      operationId: 'createServiceAccount',
      summary: 'Create a service account of an organization',
      description: `${WHO} Nobody can sign in as a service account; it acts through its tokens. An organization can have at most 20.`,
      params: OrganizationParams,
      body: NewServiceAccount,
      response: { 201: ServiceAccountView },
    },
    handler: async (req, reply) => {
      const { username } = req.body
      const account = await createServiceAccount(deps, requireViewer(req), { organization: req.params.id, username })
      return reply.status(201).send(toServiceAccountView(account))
    },
  })
  app.delete(`${PATH}/:user_id`, {
    config: { auth: { scope: ['ORGANIZATION_WRITE'] } },
    schema: {
      operationId: 'deleteServiceAccount',
      summary: 'Delete a service account permanently',
      description: `${WHO} Its tokens end immediately. Its versions go to the placeholder account for deleted users.`,
      params: ServiceAccountParams,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { id, user_id } = req.params
      const { account } = await getServiceAccount(deps.db, viewer, { organization: id, account: user_id })
      await deleteAccountOf(deps, account, actorOf(viewer))
    },
  })
}

function tokenRoutes(app: App, deps: IssuingDeps): void {
  app.post(`${PATH}/:user_id/tokens`, {
    config: {
      auth: { scope: ['ORGANIZATION_WRITE', 'PAT_CREATE'] },
      cost: COSTS.password,
      errors: ['400 LimitReached', '401 invalid_credentials'],
    },
    schema: {
      operationId: 'createServiceToken',
      summary: 'Create an access token of a service account; its secret is returned only once',
      description: `${WHO} Requires a confirmed password. The service account must not have permissions that the caller lacks; the token never exceeds what the caller may do, and ends when they leave. Without projects or organizations in \`limits\`, the token is limited to the organization.`,
      params: ServiceAccountParams,
      body: NewToken,
      response: { 201: AccessTokenView },
    },
    handler: async (req, reply) => {
      const viewer = requireViewer(req)
      const { name, expires, limits = null, scopes, ...proof } = req.body
      const { row, token } = await issueServiceToken(deps, viewer, {
        organization: req.params.id,
        account: req.params.user_id,
        name,
        scopes: toScopeBits(scopes, 'scopes'),
        expires: new Date(expires),
        limits,
        proof,
      })
      return reply.status(201).send(toAccessTokenView(row, token))
    },
  })
  app.delete(`${PATH}/:user_id/tokens/:token_id`, {
    config: { auth: { scope: ['ORGANIZATION_WRITE', 'PAT_DELETE'] } },
    schema: {
      operationId: 'deleteServiceToken',
      summary: 'Revoke an access token of a service account',
      description: WHO,
      params: ServiceTokenParams,
    },
    handler: async (req) => {
      const viewer = requireViewer(req)
      const { id, user_id, token_id } = req.params
      const { account } = await getServiceAccount(deps.db, viewer, { organization: id, account: user_id })
      const token = { id: parseId(token_id, 'token_id') }
      await deleteAccessToken(deps, { accountId: account.id, token, actor: actorOf(viewer) })
    },
  })
}
