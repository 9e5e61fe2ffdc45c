// Turning two-factor sign-in on and off.
import Type from 'typebox'
import { done } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import type { App } from '#http/server.ts'
import type { AccountDeps } from '../account-deps.ts'
import { CodeField, FlowField } from '../fields.ts'
import { disableTwoFactor, enableTwoFactor, startTwoFactor } from './switch-two-factor.ts'

const TwoFactorSecret = Type.Object(
  {
    secret: Type.String({ description: 'Base32, for an authenticator program' }),
    uri: Type.String({ description: 'The same as an otpauth address, to show as a picture' }),
    flow: Type.String(),
  },
  { title: 'TwoFactorSecret' },
)
const BackupCodes = Type.Object({ backup_codes: Type.Array(Type.String()) }, { title: 'BackupCodes' })

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
    async (req) => {
      return startTwoFactor(deps, requireViewer(req).id)
    },
  )
  app.post(
    '/auth/2fa',
    {
      config: { auth: { scope: ['USER_AUTH_WRITE'] } },
      schema: {
        operationId: 'enableTwoFactor',
        summary: 'Turn two-factor sign-in on, with a first code; answers the backup codes, once',
        body: Type.Object({ code: CodeField, flow: FlowField }),
        response: { 200: BackupCodes },
      },
    },
    async (req) => {
      const { id: accountId } = requireViewer(req)
      return { backup_codes: await enableTwoFactor(deps, { accountId, ...req.body }) }
    },
  )
  app.delete(
    '/auth/2fa',
    {
      config: { auth: { scope: ['USER_AUTH_WRITE'] } },
      schema: {
        operationId: 'disableTwoFactor',
        summary: 'Turn two-factor sign-in off, with a code or a backup code',
        body: Type.Object({ code: CodeField }),
      },
    },
    async (req, reply) => {
      await disableTwoFactor(deps, { accountId: requireViewer(req).id, code: req.body.code })
      return done(reply)
    },
  )
}
