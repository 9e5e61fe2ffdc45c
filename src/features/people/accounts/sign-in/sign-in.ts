import { lockAnyAccount } from '#features/basics/access/accounts.ts'
import { ownerAt } from '#features/basics/audit/actor.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { addressKey } from '#lib/address-key.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { AccountDeps } from '../account-deps.ts'
import { requireUndoing, restoreAtSignIn } from '../deletion/restore-account.ts'
import { insertFlow } from '../mail/flows.ts'
import { requireActive } from '../policy.ts'
import { findAccountBySignInName } from '../queries.ts'
import type { Client } from '../sessions/queries.ts'
import type { SessionView } from '../sessions/views.ts'
import { checkCaptcha } from './captcha.ts'
import { openSession, recordRefusal } from './open-session.ts'
import { invalidCredentials } from './sign-in-guard.ts'

const REFUSAL = 'The username or the password is wrong'

type SignIn = {
  name: string
  password: string
  challenge: string | null | undefined
  /** Whether to undo a pending deletion of the account. */
  undoDeletion?: boolean | undefined
  client: Client
}

/**
 * Signs in, or starts a flow if the account requires a two-factor code. Such a flow does not reset the failed attempts,
 * because otherwise a client with the password could guess codes without limit. An unknown name behaves exactly like a
 * wrong password.
 * @throws ApiError like `checkCaptcha`, `invalid_credentials`, `ratelimit_error`, 403 for a suspended account, and
 * without `undoDeletion` for an account with a pending deletion.
 */
export async function signIn(
  deps: AccountDeps,
  { name, password, challenge, undoDeletion: undo = false, client }: SignIn,
): Promise<{ session: SessionView } | { flow: string }> {
  const { config, db, guard, passwords, now } = deps
  await checkCaptcha(config.accounts.captcha, { challenge, address: client.ip })
  const found = await findAccountBySignInName(db, name)
  const account = await guard.attempt(found?.id ?? `name:${name.toLowerCase()}`, REFUSAL, async () => {
    const isRight = await passwords.verify(found?.password_hash ?? null, password, addressKey(client.ip))
    if (!isRight && found !== undefined) await recordRefusal(db, { accountId: found.id, client, because: 'password' })
    return isRight ? found : undefined
  })
  const result = await transaction(deps, async (tx, changed) => {
    const locked = await lockAnyAccount(tx, account.id)
    if (locked === undefined || !isUnchanged(locked, account)) throw invalidCredentials(REFUSAL)
    requireActive(locked, now())
    if (account.totp_secret === null) {
      await restoreAtSignIn(tx, changed, { account: locked, actor: ownerAt(account.id, client), undo })
      return { session: await openSession(tx, changed, { accountId: account.id, client, now: now() }) }
    }
    await requireUndoing(tx, locked, undo)
    const flow = { kind: 'sign_in_second_factor', accountId: account.id, data: { undo_deletion: undo } } as const
    return { flow: await insertFlow(tx, { ...flow, now: now() }) }
  })
  if ('session' in result) {
    await guard.forgive(account.id)
    recordEvent(deps, 'account.signed_in', { account_id: account.id })
  }
  return result
}

/** Returns whether the credentials are the same as before the lock. */
function isUnchanged(locked: AccountRow, checked: AccountRow): boolean {
  return locked.password_hash === checked.password_hash && locked.totp_secret === checked.totp_secret
}
