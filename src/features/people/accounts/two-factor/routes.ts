// Enables and disables two-factor sign-in.

import { requireViewer } from '#features/basics/authentication/access-control.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { AccountDeps } from '../account-deps.ts'
import { BackupCodeRenewal, TwoFactorConfirmation, TwoFactorRemoval } from '../requests.ts'
import { BackupCodeCount, BackupCodes, TwoFactorSecret } from '../views.ts'
import { countBackupCodes } from './codes.ts'
import { disableTwoFactor, enableTwoFactor, renewBackupCodes, startTwoFactor } from './switch-two-factor.ts'

export function twoFactorRoutes(app: App, deps: AccountDeps): void {
  app.post('/auth/2fa/get_secret', {
    config: { auth: { scope: ['USER_AUTH_WRITE'] } },
    schema: {
      operationId: 'startTwoFactor',
      summary: 'Start two-factor setup: create a secret for an authenticator app',
      response: { 200: TwoFactorSecret },
    },
    handler: async (req) => startTwoFactor(deps, requireViewer(req).id),
  })
  app.post('/auth/2fa', {
    config: { auth: { scope: ['USER_AUTH_WRITE'] }, cost: COSTS.password, errors: ['401 invalid_credentials'] },
    schema: {
      operationId: 'enableTwoFactor',
      summary: 'Enable two-factor sign-in with a first code',
      description: 'Returns the backup codes. They cannot be read again.',
      body: TwoFactorConfirmation,
      response: { 200: BackupCodes },
    },
    handler: async (req) => ({
      backup_codes: await enableTwoFactor(deps, { ...req.body, viewer: requireViewer(req) }),
    }),
  })
  app.delete('/auth/2fa', {
    config: { auth: { scope: ['USER_AUTH_WRITE'] }, cost: COSTS.password, errors: ['401 invalid_credentials'] },
    schema: {
      operationId: 'disableTwoFactor',
      summary: 'Disable two-factor sign-in with a two-factor code or a backup code',
      body: TwoFactorRemoval,
    },
    handler: (req): Promise<void> => disableTwoFactor(deps, { ...req.body, viewer: requireViewer(req) }),
  })
  backupCodeRoutes(app, deps)
}

function backupCodeRoutes(app: App, deps: AccountDeps): void {
  app.get('/auth/2fa/backup-codes', {
    config: { auth: { scope: ['USER_AUTH_WRITE'] } },
    schema: {
      operationId: 'countBackupCodes',
      summary: 'Get the number of unused backup codes',
      response: { 200: BackupCodeCount },
    },
    handler: async (req) => ({ remaining: await countBackupCodes(deps.db, requireViewer(req).id) }),
  })
  app.post('/auth/2fa/backup-codes', {
    config: { auth: { scope: ['USER_AUTH_WRITE'] }, cost: COSTS.password, errors: ['401 invalid_credentials'] },
    schema: {
      operationId: 'renewBackupCodes',
      summary: 'Replace the backup codes',
      description: 'The previous codes stop working. The new codes cannot be read again.',
      body: BackupCodeRenewal,
      response: { 200: BackupCodes },
    },
    handler: async (req) => ({ backup_codes: await renewBackupCodes(deps, requireViewer(req), req.body ?? {}) }),
  })
}
