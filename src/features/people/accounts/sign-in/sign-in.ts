// Sign-in with a password, and with a two-factor code if the account requires it. With a temporary password, the user
// chooses another password first.
import { hasSecondFactor, lockAccountOrLeaving, lockAnyAccount } from '#features/basics/access/accounts.ts'
import { ownerAt } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { type AccountRow, findAccount } from '#features/people/users/queries.ts'
import { addressKey } from '#lib/address-key.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { AccountDeps } from '../account-deps.ts'
import { requireUndoing, restoreAtSignIn } from '../deletion/restore-account.ts'
import { findFlow, insertFlow, takeFlow } from '../mail/flows.ts'
import { requireActive } from '../policy.ts'
import { findAccountBySignInName } from '../queries.ts'
import { type Client, hasSessionAt, issueSession } from '../sessions/queries.ts'
import type { SessionView } from '../sessions/views.ts'
import { useCode } from '../two-factor/codes.ts'
import { checkCaptcha } from './captcha.ts'
import { type Guess, invalidCredentials, signInGuess } from './sign-in-guard.ts'

const REFUSAL = 'The username or the password is wrong'
const CODE_REFUSAL = 'The code is wrong, or the sign-in has expired'

type SignIn = {
  name: string
  password: string
  challenge: string | null | undefined
  /** Whether to undo a pending deletion of the account. */
  undoDeletion?: boolean | undefined
  client: Client
}

/** A completed sign-in, or the flow with which the user sets a password in place of a temporary one. */
export type SignedIn = { session: SessionView } | { flow: string; needs: 'new-password' }

/**
 * Signs in, or starts a flow if the account requires a two-factor code or another password. Such a flow does not reset the
 * failed attempts, because otherwise a client with the password could guess codes without limit. An unknown name behaves
 * exactly like a wrong password.
 * @throws ApiError like `checkCaptcha`, `invalid_credentials`, `ratelimit_error`, 403 for a suspended account, and
 * without `undoDeletion` for an account with a pending deletion.
 */
export async function signIn(
  deps: AccountDeps,
  { name, password, challenge, undoDeletion: undo = false, client }: SignIn,
): Promise<SignedIn | { flow: string; needs: 'code' }> {
  const { config, db, guard, passwords, now } = deps
  await checkCaptcha(config.accounts.captcha, { challenge, address: client.ip })
  const found = await findAccountBySignInName(db, name)
  const guess = await guessOf(db, { account: found?.id ?? `name:${name.toLowerCase()}`, client, what: 'password' })
  const account = await guard.attempt(guess, REFUSAL, async () => {
    const isRight = await passwords.verify(found?.password_hash ?? null, password, addressKey(client.ip))
    if (!isRight && found !== undefined) await recordRefusal(db, { accountId: found.id, client, because: 'password' })
    return isRight ? found : undefined
  })
  const result = await transaction(deps, async (tx, changed) => {
    const locked = await lockAnyAccount(tx, account.id)
    const isUnchanged = locked?.password_hash === account.password_hash && locked.totp_secret === account.totp_secret
    if (locked === undefined || !isUnchanged) throw invalidCredentials(REFUSAL)
    requireActive(locked, now())
    if (!hasSecondFactor(locked)) return openSession(tx, changed, { account: locked, client, undo, now: now() })
    await requireUndoing(tx, locked, undo)
    const flow = { kind: 'sign_in_second_factor', accountId: account.id, data: { undo_deletion: undo } } as const
    return { flow: await insertFlow(tx, { ...flow, now: now() }), needs: 'code' as const }
  })
  if ('session' in result) await finish(deps, account.id, client)
  return result
}

/**
 * Completes a sign-in with a two-factor code. A wrong code counts like a wrong password, and the flow remains valid. A
 * right code uses the flow and the code.
 * @throws ApiError `invalid_credentials`, `ratelimit_error`, 403 for a suspended account
 */
export async function signInWithCode(
  deps: AccountDeps,
  { flow: secret, code, client }: { flow: string; code: string; client: Client },
): Promise<SignedIn> {
  const { db, guard, now } = deps
  const flow = await findFlow(db, 'sign_in_second_factor', { secret, now: now() })
  if (flow === undefined) throw invalidCredentials(CODE_REFUSAL)
  const accountId = flow.account_id
  const guess = await guessOf(db, { account: accountId, client, what: 'code' })
  const result = await guard.attempt(guess, CODE_REFUSAL, () =>
    transaction(deps, async (tx, changed) => {
      const account = await lockAccountOrLeaving(tx, accountId)
      if (!(await useCode(tx, account, { code, now: now() }))) {
        await recordRefusal(tx, { accountId, client, because: 'code' })
        return undefined
      }
      // The code was right, but a concurrent request has used the flow. The rollback makes the code valid again.
      const usedFlow = await takeFlow(tx, 'sign_in_second_factor', { secret, now: now() })
      if (usedFlow === undefined) throw invalidCredentials(CODE_REFUSAL)
      requireActive(account, now())
      const undo = usedFlow.data['undo_deletion'] === true
      return openSession(tx, changed, { account, client, undo, now: now() })
    }),
  )
  if ('session' in result) await finish(deps, accountId, client)
  return result
}

/** The ways to complete a sign-in, besides backup codes. */
export type SecondFactors = { hasApp: boolean; hasPasskey: boolean }

/** Returns what can complete the sign-in with this flow. An unknown flow expects a code, which then is wrong. */
export async function readSecondFactors(
  { db, now }: Pick<AccountDeps, 'db' | 'now'>,
  secret: string,
): Promise<SecondFactors> {
  const flow = await findFlow(db, 'sign_in_second_factor', { secret, now: now() })
  const account = flow && (await findAccount(db, flow.account_id))
  return { hasApp: account?.totp_secret !== null, hasPasskey: (account?.passkey_count ?? 0) > 0 }
}

/** Runs the same statement for an unknown name, so that its time reveals nothing. */
async function guessOf(
  db: Db,
  { account, client, what }: { account: string; client: Client; what: 'password' | 'code' },
): Promise<Guess> {
  const isKnown = await hasSessionAt(db, { accountId: account, address: client.ip })
  return signInGuess({ account, address: client.ip, isKnown, what })
}

export async function finish(deps: AccountDeps, accountId: string, client: Client): Promise<void> {
  await deps.guard.forgiveSignIns({ account: accountId, address: client.ip })
  recordEvent(deps, 'account.signed_in', { account_id: accountId })
}

/**
 * Undoes a pending deletion, creates a session and records the sign-in. If the password is temporary, only creates a flow to
 * set another password, because a session could keep the temporary password.
 */
export async function openSession(
  tx: Tx,
  changed: ChangeSet,
  { account, client, undo, now }: { account: AccountRow; client: Client; undo: boolean; now: number },
): Promise<SignedIn> {
  if (account.password_is_temporary) {
    await requireUndoing(tx, account, undo)
    const flow = { kind: 'reset_password', accountId: account.id, data: { email: account.email } } as const
    return { flow: await insertFlow(tx, { ...flow, now }), needs: 'new-password' }
  }
  const actor = ownerAt(account.id, client)
  await restoreAtSignIn(tx, changed, { account, actor, undo })
  const session = await issueSession(tx, changed, { accountId: account.id, client, now })
  await recordAudit(tx, { action: 'account.signed_in', actor, subject: { kind: 'session', id: session.id } })
  return { session }
}

/** Records a failed sign-in of an existing account. Unknown names are not stored, because users also type passwords there. */
export async function recordRefusal(
  db: Db,
  { accountId, client, because }: { accountId: string; client: Client; because: 'password' | 'code' | 'passkey' },
): Promise<void> {
  await recordAudit(db, {
    action: 'account.sign_in_refused',
    actor: { kind: 'anonymous', address: client.ip },
    subject: { kind: 'user', id: accountId },
    details: { because },
  })
}
