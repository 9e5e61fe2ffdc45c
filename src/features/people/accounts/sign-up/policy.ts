// Who may sign up.

import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { forbidden, validationError } from '#lib/errors.ts'
import type { Tx } from '#platform/db/db.ts'
import type { AccountDeps } from '../account-deps.ts'
import { isUsable, takeUse } from '../invitations/queries.ts'

type Invited = { email: string; invitation: string | undefined }

/**
 * People do not see the field behind `honeypot`; programs that fill in everything do.
 * @throws ApiError `validation_error` naming `account_consent` or `invitation`, 403 where registration is closed, or by
 * invitation and none is given
 */
export async function checkMaySignUp(
  deps: Pick<AccountDeps, 'db' | 'cache' | 'config' | 'now'>,
  { honeypot, invited }: { honeypot: boolean | undefined; invited: Invited },
): Promise<{ needsInvitation: boolean }> {
  if (honeypot === true) throw validationError('account_consent', 'must not be set')
  const { registration } = await getSettings(deps)
  if (registration === 'closed') throw forbidden('This service takes no new accounts')
  if (registration === 'open') return { needsInvitation: false }
  const { invitation: code, email } = invited
  if (code === undefined || code === '') throw forbidden('This service takes new accounts by invitation only')
  if (!(await isUsable(deps.db, { code, email, now: new Date(deps.now()) }))) throw notUsable()
  return { needsInvitation: true }
}

/**
 * Takes one use of the invitation, in the transaction that makes the account, and returns its ID.
 * @throws ApiError `validation_error` naming `invitation` when its last use was taken meanwhile.
 */
export async function takeInvitation(
  tx: Tx,
  { invitation: code = '', email }: Invited,
  nowMs: number,
): Promise<string> {
  const id = await takeUse(tx, { code, email, now: new Date(nowMs) })
  if (id === undefined) throw notUsable()
  return id
}

const notUsable = () =>
  validationError('invitation', 'is unknown, used up, past its time, or for another e-mail address')
