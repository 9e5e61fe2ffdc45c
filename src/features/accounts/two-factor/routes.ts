// Turning two-factor sign-in on and off.
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import type { App } from '#http/server.ts'
import type { AccountDeps } from '../account-deps.ts'
import { TwoFactorConfirmation, TwoFactorRemoval } from './requests.ts'
import { disableTwoFactor, enableTwoFactor, startTwoFactor } from './switch-two-factor.ts'
import { BackupCodes, TwoFactorSecret } from './views.ts'

export function twoFactorRoutes(app: App, deps: AccountDeps): void {
  app.post(
    '/auth/2fa/get_secret',
    {
      config: { auth: { scope: ['USER_AUTH_WRITE'] } },
      schema: {
        operationId: 'startTwoFactor',
        summary: 'A secret for an authenticator program',
        response: { 200: TwoFactorSecret },
      },
    },
    async (req) => startTwoFactor(deps, requireViewer(req).id),
  )
  app.post(
    '/auth/2fa',
    {
      config: { auth: { scope: ['USER_AUTH_WRITE'] } },
      schema: {
        operationId: 'enableTwoFactor',
        summary: 'Turn two-factor sign-in on with a first code; answers the backup codes, once',
        body: TwoFactorConfirmation,
        response: { 200: BackupCodes },
      },
    },
    async (req) => {
      return { backup_codes: await enableTwoFactor(deps, { viewer: requireViewer(req), ...req.body }) }
    },
  )
  app.delete(
    '/auth/2fa',
    {
      config: { auth: { scope: ['USER_AUTH_WRITE'] } },
      schema: {
        operationId: 'disableTwoFactor',
        summary: 'Turn two-factor sign-in off, with a code or a backup code',
        body: TwoFactorRemoval,
      },
    },
    async (req, reply) => {
      await disableTwoFactor(deps, { viewer: requireViewer(req), ...req.body })
      return done(reply)
    },
  )
}
