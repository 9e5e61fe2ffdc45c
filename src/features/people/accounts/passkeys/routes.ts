// Passkeys: sign-in, confirmation, and the passkeys of an account.
import Type from 'typebox'
import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { IdParams } from '#platform/http/query-values.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import { type AccountDeps, clientOf } from '../account-deps.ts'
import { confirmOwner } from '../credentials/confirm-owner.ts'
import { SessionView } from '../sessions/views.ts'
import { PasswordChangeRequired, toPasswordChangeRequired } from '../views.ts'
import { addPasskey, startPasskey } from './add-passkey.ts'
import { requestOptions } from './ceremonies.ts'
import { deletePasskey } from './delete-passkey.ts'
import { listPasskeys } from './queries.ts'
import { renamePasskey } from './rename-passkey.ts'
import { NewPasskey, PasskeyConfirmation, PasskeyPatch, PasskeyRemoval, PasskeySignIn } from './requests.ts'
import { signInWithPasskey } from './sign-in-with-passkey.ts'
import { AddedPasskey, PasskeyCreationOptions, PasskeyRequest, Passkeys, toPasskeyView } from './views.ts'

const SIGNED_IN = { auth: { scope: ['USER_AUTH_WRITE'] } } as const
const REFUSED = ['401 invalid_credentials'] as const

export function passkeyRoutes(app: App, deps: AccountDeps): void {
  useRoutes(app, deps)
  app.get('/auth/passkeys', {
    config: SIGNED_IN,
    schema: {
      operationId: 'listPasskeys',
      summary: "List the caller's passkeys, oldest first",
      response: { 200: Passkeys },
    },
    handler: async (req) => ({ passkeys: (await listPasskeys(deps.db, requireViewer(req).id)).map(toPasskeyView) }),
  })
  app.post('/auth/passkeys/start', {
    config: { ...SIGNED_IN, errors: ['400 LimitReached'] },
    schema: {
      operationId: 'startPasskey',
      summary: 'Get the options with which a browser creates a passkey',
      response: { 200: PasskeyCreationOptions },
    },
    handler: async (req) => startPasskey(deps, requireViewer(req).id),
  })
  app.post('/auth/passkeys', {
    config: { ...SIGNED_IN, cost: COSTS.password, errors: [...REFUSED, '400 LimitReached', '409 conflict'] },
    schema: {
      operationId: 'addPasskey',
      summary: 'Add a passkey',
      description:
        'From then on, a sign-in with the password also needs a passkey or a two-factor code. Notifies the user by email. An account can have 20 passkeys.',
      body: NewPasskey,
      response: { 201: AddedPasskey },
    },
    handler: async (req, reply) => {
      const { name, credential, ...proof } = req.body
      const added = await addPasskey(deps, { viewer: requireViewer(req), name, credential, proof })
      return reply.status(201).send({ passkey: toPasskeyView(added.passkey), backup_codes: added.backupCodes })
    },
  })
  app.patch('/auth/passkeys/:id', {
    config: SIGNED_IN,
    schema: { operationId: 'renamePasskey', summary: 'Rename a passkey', params: IdParams, body: PasskeyPatch },
    handler: (req): Promise<void> => renamePasskey(deps, requireViewer(req), { id: req.params.id, ...req.body }),
  })
  app.delete('/auth/passkeys/:id', {
    config: { ...SIGNED_IN, cost: COSTS.password, errors: REFUSED },
    schema: {
      operationId: 'deletePasskey',
      summary: 'Delete a passkey',
      description:
        'Notifies the user by email. The last passkey of an account without an authenticator app turns two-factor sign-in off.',
      params: IdParams,
      body: PasskeyRemoval,
    },
    handler: (req): Promise<void> =>
      deletePasskey(deps, { viewer: requireViewer(req), id: req.params.id, proof: req.body ?? {} }),
  })
}

/** Routes that use a passkey. */
function useRoutes(app: App, deps: AccountDeps): void {
  app.post('/auth/passkeys/options', {
    config: { auth: 'public', withoutPage: 'The script of pages calls it' },
    schema: {
      operationId: 'requestPasskey',
      summary: 'Get the options with which a browser asks for a passkey',
      response: { 200: PasskeyRequest },
    },
    handler: async () => requestOptions(deps),
  })
  app.post('/auth/login/passkey', {
    config: { auth: 'public', cost: COSTS.password, errors: REFUSED },
    schema: {
      operationId: 'signInWithPasskey',
      summary: 'Sign in with a passkey',
      description: 'Needs no further code, also if two-factor sign-in is enabled.',
      body: PasskeySignIn,
      response: { 200: Type.Union([SessionView, PasswordChangeRequired]) },
    },
    handler: async (req) => {
      const { credential, undo_deletion: undoDeletion } = req.body
      const result = await signInWithPasskey(deps, { credential, undoDeletion, client: clientOf(req) })
      return 'session' in result ? result.session : toPasswordChangeRequired(result.flow)
    },
  })
  app.post('/auth/confirm/passkey', {
    config: { ...SIGNED_IN, cost: COSTS.password, errors: REFUSED },
    schema: {
      operationId: 'confirmWithPasskey',
      summary: 'Confirm the owner of the session with a passkey',
      description: 'For the next 10 minutes, requests with this session need neither `password` nor `code`.',
      body: PasskeyConfirmation,
    },
    handler: (req): Promise<void> =>
      confirmOwner(deps, requireViewer(req), { passkey: JSON.stringify(req.body.credential) }),
  })
}
