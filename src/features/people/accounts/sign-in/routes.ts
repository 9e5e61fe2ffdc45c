// Sign-in with a password, and with a two-factor code if the account requires it.

import Type from 'typebox'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import { type AccountDeps, clientOf } from '../account-deps.ts'
import { Credentials, SecondFactor } from '../requests.ts'
import { SessionView } from '../sessions/views.ts'
import { PasswordChangeRequired, TwoFactorRequired, toPasswordChangeRequired } from '../views.ts'
import { signIn, signInWithCode } from './sign-in.ts'

export function signInRoutes(app: App, deps: AccountDeps): void {
  app.post('/auth/login', {
    config: { auth: 'public', cost: COSTS.password, errors: ['400 captcha_error', '401 invalid_credentials'] },
    schema: {
      operationId: 'signIn',
      summary: 'Sign in with a username or email address and a password',
      body: Credentials,
      response: { 200: Type.Union([SessionView, TwoFactorRequired, PasswordChangeRequired]) },
    },
    handler: async (req) => {
      const { username: name, password, challenge, undo_deletion: undoDeletion } = req.body
      const result = await signIn(deps, { name, password, challenge, undoDeletion, client: clientOf(req) })
      if ('session' in result) return result.session
      if (result.needs === 'new-password') return toPasswordChangeRequired(result.flow)
      return {
        error: '2fa_required' as const,
        description: 'This account requires a two-factor code',
        flow: result.flow,
      }
    },
  })
  app.post('/auth/login/2fa', {
    config: { auth: 'public', errors: ['401 invalid_credentials'] },
    schema: {
      operationId: 'signInWithSecondFactor',
      summary: 'Complete a sign-in with a two-factor code or a backup code',
      body: SecondFactor,
      response: { 200: Type.Union([SessionView, PasswordChangeRequired]) },
    },
    handler: async (req) => {
      const result = await signInWithCode(deps, { ...req.body, client: clientOf(req) })
      return 'session' in result ? result.session : toPasswordChangeRequired(result.flow)
    },
  })
}
