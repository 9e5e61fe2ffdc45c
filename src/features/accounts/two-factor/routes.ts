// Turning two-factor sign-in on and off.
import Type from 'typebox'
import { writing } from '#cache/writing.ts'
import type { Tx } from '#db/db.ts'
import { getAccount } from '#features/users/queries.ts'
import { Empty, ErrorAnswers } from '#http/answers.ts'
import { requireViewer } from '#http/auth.ts'
import type { App } from '#http/server.ts'
import { enqueue } from '#jobs/queue.ts'
import { type ApiError, invalidInput } from '#lib/errors.ts'

import type { AccountDeps } from '../account-deps.ts'
import { CodeField, FlowField } from '../fields.ts'
import { deleteFlows, insertFlow, takeFlow } from '../flows.ts'
import { lockAccount } from '../queries.ts'
import { invalidCredentials } from '../sign-in-guard.ts'
import { newTotpSecret, replaceBackupCodes, totpStep, useCode } from './codes.ts'

const tags = ['accounts']

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
  const { db, now } = deps
  app.post(
    '/auth/2fa/get_secret',
    {
      config: { auth: { scope: ['USER_AUTH_WRITE'] } },
      schema: {
        operationId: 'startTwoFactor',
        summary: 'A secret for an authenticator program',
        tags,
        response: { 200: TwoFactorSecret, ...ErrorAnswers },
      },
    },
    async (req) => {
      const account = await getAccount(db, requireViewer(req).id)
      if (account.totp_secret !== null) throw alreadyOn()
      const { secret, uri } = newTotpSecret(account.username)
      const flow = await insertFlow(db, { kind: 'set_up_totp', accountId: account.id, data: { secret }, now: now() })
      return { secret, uri, flow }
    },
  )
  app.post(
    '/auth/2fa',
    {
      config: { auth: { scope: ['USER_AUTH_WRITE'] } },
      schema: {
        operationId: 'enableTwoFactor',
        summary: 'Turns two-factor sign-in on, with a first code; answers the backup codes, once',
        tags,
        body: Type.Object({ code: CodeField, flow: FlowField }),
        response: { 200: BackupCodes, ...ErrorAnswers },
      },
    },
    async (req) => {
      const viewer = requireViewer(req)
      const backupCodes = await writing(deps, (tx) =>
        enableTwoFactor(tx, { accountId: viewer.id, ...req.body, now: now() }),
      )
      return { backup_codes: backupCodes }
    },
  )
  app.delete(
    '/auth/2fa',
    {
      config: { auth: { scope: ['USER_AUTH_WRITE'] } },
      schema: {
        operationId: 'disableTwoFactor',
        summary: 'Turns two-factor sign-in off, with a code or a backup code',
        tags,
        body: Type.Object({ code: CodeField }),
        response: { 204: Empty, ...ErrorAnswers },
      },
    },
    async (req, reply) => {
      const { id: accountId } = requireViewer(req)
      const { code } = req.body
      await deps.guard.attempt(accountId, 'The code is wrong', () =>
        writing(deps, async (tx) => {
          const account = await lockAccount(tx, accountId)
          if (account.totp_secret === null) throw invalidInput('Two-factor sign-in is not on')
          if (!(await useCode(tx, account, { code, now: now() }))) return undefined
          await disableTwoFactor(tx, accountId)
          return true
        }),
      )
      return reply.status(204).send(null)
    },
  )
}

type Enable = { accountId: string; flow: string; code: string; now: number }

/** The first code is used up with this, like any other; so is the flow, unless the code is wrong. */
async function enableTwoFactor(tx: Tx, { accountId, flow: secret, code, now }: Enable): Promise<string[]> {
  const account = await lockAccount(tx, accountId)
  if (account.totp_secret !== null) throw alreadyOn()
  const flow = await takeFlow(tx, 'set_up_totp', { secret, now })
  if (flow === undefined || flow.account_id !== accountId)
    throw invalidCredentials('The flow is unknown or has expired')
  const totpSecret = String(flow.data['secret'])
  const step = totpStep({ secret: totpSecret, code, now })
  if (step === undefined) throw invalidCredentials('The code is wrong')
  await tx
    .updateTable('account')
    .set({ totp_secret: totpSecret, totp_last_step: step })
    .where('id', '=', accountId)
    .execute()
  await deleteFlows(tx, accountId, ['set_up_totp'])
  await enqueue(tx, 'accounts.send-mail', { kind: 'two-factor-enabled', account_id: accountId })
  return replaceBackupCodes(tx, accountId)
}

/** Sign-ins that wait for a second factor end too: there is none any more. */
async function disableTwoFactor(tx: Tx, accountId: string): Promise<void> {
  await tx.updateTable('account').set({ totp_secret: null }).where('id', '=', accountId).execute()
  await tx.deleteFrom('backup_code').where('account_id', '=', accountId).execute()
  await deleteFlows(tx, accountId, ['sign_in_second_factor'])
  await enqueue(tx, 'accounts.send-mail', { kind: 'two-factor-removed', account_id: accountId })
}

function alreadyOn(): ApiError {
  return invalidInput('Two-factor sign-in is on already')
}
