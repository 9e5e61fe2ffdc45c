// Operator routes for suspended, deleted and locked-out accounts.
import Type from 'typebox'
import type { ConfirmOwner } from '#features/basics/access/confirm-owner.ts'
import { OwnerProofBody, UserParams } from '#features/basics/access/requests.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { parseId } from '#lib/ids.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { PageQuery } from '#platform/http/query-values.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { listPendingDeletions } from '../deletion/queries.ts'
import { restoreAccount } from '../deletion/restore-account.ts'
import { confirmedOperator } from './confirmed-operator.ts'
import { endUserSession } from './end-user-session.ts'
import { getAccountLimits } from './limits.ts'
import { makePasswordLink } from './make-password-link.ts'
import { listSuspended, listUserSessions } from './queries.ts'
import {
  checkReason,
  EmailChange,
  LimitsInput,
  SessionParams,
  SignOutQuery,
  Suspension,
  TwoFactorReset,
  toLimits,
  toSuspension,
} from './requests.ts'
import { resetTwoFactor } from './reset-two-factor.ts'
import { setEmail } from './set-email.ts'
import { setLimits } from './set-limits.ts'
import { signOutAccount } from './sign-out-account.ts'
import { suspendAccount, unsuspendAccount } from './suspend-account.ts'
import {
  AccountLimitsView,
  DeletedAccount,
  PasswordLink,
  SuspendedAccount,
  toDeletedAccount,
  toSuspendedAccount,
  toUserSession,
  UserSession,
} from './views.ts'

type AdministrationDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'> & { confirmOwner: ConfirmOwner }

const config = { auth: 'operator' } as const
/** Configuration of the routes for which an admin confirms the password. */
const confirmed = { auth: 'operator', cost: COSTS.password, errors: ['401 invalid_credentials'] } as const

export function administrationRoutes(app: App, deps: AdministrationDeps): void {
  mountInternal(app, (scope) => {
    suspensionRoutes(scope, deps)
    deletionRoutes(scope, deps)
    sessionRoutes(scope, deps)
    credentialRoutes(scope, deps)
    limitRoutes(scope, deps)
  })
}

function suspensionRoutes(app: App, deps: AdministrationDeps): void {
  app.get('/admin/suspended-users', {
    config,
    schema: {
      operationId: 'listSuspendedUsers',
      summary: 'List suspended accounts, newest suspension first',
      querystring: PageQuery,
      response: { 200: Type.Array(SuspendedAccount) },
    },
    handler: async (req) => {
      const { limit = 100, offset = 0 } = req.query
      return (await listSuspended(deps.db, new Date(deps.now()), { limit, offset })).map(toSuspendedAccount)
    },
  })
  app.put('/admin/user/:id/suspension', {
    config: confirmed,
    schema: {
      operationId: 'suspendUser',
      summary: 'Suspend an account, or change the reason and the end of its suspension',
      description:
        'Ends all sessions of the account and disables its tokens until the suspension ends. Notifies the user by ' +
        'email. Admins cannot suspend themselves, and the last admin cannot be suspended.',
      params: UserParams,
      body: Suspension,
    },
    handler: async (req) => {
      const suspension = toSuspension(req.body, deps.now())
      await suspendAccount(deps, await confirmedOperator(deps, req), { name: req.params.id, ...suspension })
    },
  })
  app.delete('/admin/user/:id/suspension', {
    config: confirmed,
    schema: {
      operationId: 'unsuspendUser',
      summary: 'Lift the suspension of an account',
      params: UserParams,
      body: OwnerProofBody,
    },
    handler: async (req) => {
      await unsuspendAccount(deps, await confirmedOperator(deps, req), req.params.id)
    },
  })
}

function deletionRoutes(app: App, deps: AdministrationDeps): void {
  app.get('/admin/deleted-users', {
    config,
    schema: {
      operationId: 'listDeletedUsers',
      summary: 'List accounts whose deletion can still be undone, earliest due date first',
      querystring: PageQuery,
      response: { 200: Type.Array(DeletedAccount) },
    },
    handler: async (req) => {
      const { limit = 100, offset = 0 } = req.query
      return (await listPendingDeletions(deps.db, { limit, offset })).map(toDeletedAccount)
    },
  })
  app.delete('/admin/user/:id/deletion', {
    config: confirmed,
    schema: {
      operationId: 'restoreUser',
      summary: 'Undo the deletion of an account',
      description:
        'Restores what the account owned, published and followed, except what was deleted or has a new owner. ' +
        'Sessions and tokens are not restored. Notifies the user by email.',
      params: UserParams,
      body: OwnerProofBody,
    },
    handler: async (req) => {
      await restoreAccount(deps, await confirmedOperator(deps, req), req.params.id)
    },
  })
}

function sessionRoutes(app: App, deps: AdministrationDeps): void {
  app.get('/admin/user/:id/sessions', {
    config,
    schema: {
      operationId: 'listUserSessions',
      summary: 'List the sessions of an account, last used first',
      params: UserParams,
      response: { 200: Type.Array(UserSession) },
    },
    handler: async (req) => {
      const { id: accountId } = await getAccountByName(deps.db, req.params.id, { withLeaving: true })
      return (await listUserSessions(deps.db, { accountId, now: deps.now() })).map(toUserSession)
    },
  })
  app.delete('/admin/user/:id/sessions/:session', {
    config: { ...confirmed, errors: [...confirmed.errors, '400 decoding_error'] },
    schema: {
      operationId: 'endUserSession',
      summary: 'End a session of an account',
      params: SessionParams,
      body: OwnerProofBody,
    },
    handler: async (req) => {
      const { id: name, session } = req.params
      const sessionId = parseId(session, 'session')
      await endUserSession(deps, await confirmedOperator(deps, req), { name, sessionId })
    },
  })
  app.delete('/admin/user/:id/sessions', {
    config: confirmed,
    schema: {
      operationId: 'signOutUser',
      summary: 'End all sessions of an account, and optionally revoke its tokens',
      params: UserParams,
      querystring: SignOutQuery,
      body: OwnerProofBody,
    },
    handler: async (req) => {
      const { tokens = false } = req.query
      await signOutAccount(deps, await confirmedOperator(deps, req), { name: req.params.id, tokens })
    },
  })
}

function credentialRoutes(app: App, deps: AdministrationDeps): void {
  app.delete('/admin/user/:id/two-factor', {
    config: confirmed,
    schema: {
      operationId: 'resetTwoFactor',
      summary: 'Turn off two-factor sign-in of a user who has lost the device and the backup codes',
      description: 'Notifies the user by email.',
      params: UserParams,
      body: TwoFactorReset,
    },
    handler: async (req) => {
      const reason = checkReason(req.body.reason)
      await resetTwoFactor(deps, await confirmedOperator(deps, req), { name: req.params.id, reason })
    },
  })
  app.put('/admin/user/:id/email', {
    config: { ...confirmed, errors: [...confirmed.errors, '409 conflict'] },
    schema: {
      operationId: 'setUserEmail',
      summary: 'Set the email address of a user, or state that it is verified',
      description: 'Links that were sent to the former address become invalid. The user stays signed in.',
      params: UserParams,
      body: EmailChange,
    },
    handler: async (req) => {
      const { email, verified = false } = req.body
      await setEmail(deps, await confirmedOperator(deps, req), { name: req.params.id, email, verified })
    },
  })
  app.post('/admin/user/:id/password-link', {
    config: confirmed,
    schema: {
      operationId: 'makePasswordLink',
      summary: 'Create a link with which a user can set a new password',
      description: 'The link works once and expires after 24 hours. Depot does not send it: give it to the user.',
      params: UserParams,
      body: OwnerProofBody,
      response: { 201: PasswordLink },
    },
    handler: async (req, reply) => {
      const { url, expires } = await makePasswordLink(deps, await confirmedOperator(deps, req), req.params.id)
      return reply.status(201).send({ url, expires: expires.toISOString() })
    },
  })
}

function limitRoutes(app: App, deps: AdministrationDeps): void {
  app.get('/admin/user/:id/limits', {
    config,
    schema: {
      operationId: 'getUserLimits',
      summary: 'Get the limits of an account, and what it has stored',
      params: UserParams,
      response: { 200: AccountLimitsView },
    },
    handler: async (req) =>
      getAccountLimits(deps, await getAccountByName(deps.db, req.params.id, { withLeaving: true })),
  })
  app.put('/admin/user/:id/limits', {
    config: confirmed,
    schema: {
      operationId: 'setUserLimits',
      summary: 'Set the limits of an account',
      description: 'The account keeps its present projects, organizations and collections. Admins have no limits.',
      params: UserParams,
      body: LimitsInput,
    },
    handler: async (req) => {
      const limits = toLimits(req.body)
      await setLimits(deps, await confirmedOperator(deps, req), { name: req.params.id, limits })
    },
  })
}
