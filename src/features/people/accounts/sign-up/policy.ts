// Permissions for sign-ups.

import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { forbidden, validationError } from '#lib/errors.ts'
import type { Tx } from '#platform/db/db.ts'
import type { AccountDeps } from '../account-deps.ts'
import { isUsable, useInvitation } from '../invitations/queries.ts'

type Invited = { email: string; invitation: string | undefined }

/**
 * Checks whether a sign-up is allowed. `honeypot` is a hidden field that only bots fill in.
 * @throws ApiError `validation_error` naming `account_consent` or `invitation`, 403 if registration is closed, or
 * requires an invitation and the request has none
 */
export async function checkMaySignUp(
  deps: Pick<AccountDeps, 'db' | 'cache' | 'config' | 'now'>,
  { honeypot, invited }: { honeypot: boolean | undefined; invited: Invited },
): Promise<{ needsInvitation: boolean }> {
  if (honeypot === true) throw validationError('account_consent', 'must not be set')
  const { registration } = await getSettings(deps)
  if (registration === 'closed') throw forbidden('This service does not accept new accounts')
  if (registration === 'open') return { needsInvitation: false }
  const { invitation: code, email } = invited
  if (code === undefined || code === '') throw forbidden('An invitation is required to sign up')
  if (!(await isUsable(deps.db, { code, email, now: new Date(deps.now()) }))) throw notUsable()
  return { needsInvitation: true }
}

/**
 * Counts a use of the invitation in the transaction that creates the account, and returns its ID.
 * @throws ApiError `validation_error` naming `invitation` if a concurrent sign-up took the last use.
 */
export async function takeInvitation(
  tx: Tx,
  { invitation: code = '', email }: Invited,
  nowMs: number,
): Promise<string> {
  const id = await useInvitation(tx, { code, email, now: new Date(nowMs) })
  if (id === undefined) throw notUsable()
  return id
}

const notUsable = () => validationError('invitation', 'is unknown, fully used, expired, or for another email address')
