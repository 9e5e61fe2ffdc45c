// Permissions for sign-ups.

import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { networkOf } from '#lib/address-key.ts'
import { type ApiError, forbidden, validationError } from '#lib/errors.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Tx } from '#platform/db/db.ts'
import type { AccountDeps } from '../account-deps.ts'
import { isUsable, useInvitation } from '../invitations/queries.ts'
import { retryLater } from '../sign-in/sign-in-guard.ts'
import { findBlock, isDomainBlocked } from '../sign-up-blocks/queries.ts'

type Invited = { email: string; invitation: string | undefined }

/**
 * Checks whether a sign-up is allowed. `honeypot` is a hidden field that only bots fill in.
 * @throws ApiError `validation_error` naming `account_consent`, `email` for a blocked domain or `invitation`, 403 if
 * registration is closed, for a blocked address, or if an invitation is required and the request has none
 */
export async function checkMaySignUp(
  deps: Pick<AccountDeps, 'db' | 'cache' | 'config' | 'now'>,
  { honeypot, invited, address }: { honeypot: boolean | undefined; invited: Invited; address: string },
): Promise<{ needsInvitation: boolean }> {
  if (honeypot === true) throw validationError('account_consent', 'must not be set')
  const { registration } = await getSettings(deps)
  if (registration === 'closed') throw forbidden('This service does not accept new accounts')
  await requireNotBlocked(deps, { email: invited.email, address })
  if (registration === 'open') return { needsInvitation: false }
  const { invitation: code, email } = invited
  if (code === undefined || code === '') throw forbidden('An invitation is required to sign up')
  if (!(await isUsable(deps.db, { code, email, now: new Date(deps.now()) }))) throw notUsable()
  return { needsInvitation: true }
}

/** Requires that the domain of a new email address is not blocked. @throws ApiError `validation_error` naming `email` */
export async function requireAllowedDomain({ db, now }: Pick<AccountDeps, 'db' | 'now'>, email: string): Promise<void> {
  if (await isDomainBlocked(db, { email, now: new Date(now()) })) throw domainBlocked()
}

const domainBlocked = () => validationError('email', 'must not be at this domain, which the service has blocked')

/** The answer does not depend on accounts. @throws ApiError `validation_error` naming `email`, 403 for a blocked address. */
async function requireNotBlocked(
  { db, now }: Pick<AccountDeps, 'db' | 'now'>,
  { email, address }: { email: string; address: string },
): Promise<void> {
  const block = await findBlock(db, { email, address, now: new Date(now()) })
  if (block === 'domain') throw domainBlocked()
  if (block === 'range') throw forbidden('This service does not accept new accounts from your network')
}

/**
 * Counts a sign-up from an address range. Returns a function that undoes the count, for a sign-up that fails.
 * @throws ApiError `ratelimit_error` above the limit that operators set
 */
export async function countSignUp(
  deps: Pick<AccountDeps, 'db' | 'cache' | 'config' | 'counters'>,
  address: string,
): Promise<() => Promise<void>> {
  const { sign_ups_per_range: max } = await getSettings(deps)
  const [key, window] = [`sign-up:${networkOf(address)}`, { max, windowMs: HOUR_MS }] as const
  const { counted, retryAfterMs } = await deps.counters.hit(key, window)
  if (!counted) throw tooMany(retryAfterMs)
  return async () => deps.counters.giveBackHit(key, window)
}

const tooMany = (retryAfterMs: number): ApiError => retryLater('Too many new accounts from your network', retryAfterMs)

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
