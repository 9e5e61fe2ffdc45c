import { lockAccountOrLeaving } from '#features/basics/access/accounts.ts'
import { ownerAt } from '#features/basics/audit/actor.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { AccountDeps } from '../account-deps.ts'
import { restoreAtSignIn } from '../deletion/restore-account.ts'
import { findFlow, takeFlow } from '../mail/flows.ts'
import type { Client } from '../sessions/queries.ts'
import type { SessionView } from '../sessions/views.ts'
import { useCode } from '../two-factor/codes.ts'
import { openSession, recordRefusal } from './open-session.ts'
import { requireActive } from './policy.ts'
import { invalidCredentials } from './sign-in-guard.ts'

const REFUSAL = 'The code is wrong, or the sign-in has expired'

/**
 * Finishes a sign-in that waits for its second factor. A wrong code leaves the flow for another try, and counts like a
 * wrong password; a right one uses up flow and code together.
 * @throws ApiError `invalid_credentials`, `ratelimit_error`, 403 for a suspended account
 */
export async function signInWithCode(
  deps: AccountDeps,
  { flow: secret, code, client }: { flow: string; code: string; client: Client },
): Promise<SessionView> {
  const { db, guard, now } = deps
  const flow = await findFlow(db, 'sign_in_second_factor', { secret, now: now() })
  if (flow === undefined) throw invalidCredentials(REFUSAL)
  const accountId = flow.account_id
  const session = await guard.attempt(accountId, REFUSAL, () =>
    transaction(deps, async (tx, changed) => {
      const account = await lockAccountOrLeaving(tx, accountId)
      if (!(await useCode(tx, account, { code, now: now() }))) {
        await recordRefusal(tx, { accountId, client, because: 'code' })
        return undefined
      }
      // Throwing gives the code back: it was right, and the flow was lost to another use or to a change of password.
      const taken = await takeFlow(tx, 'sign_in_second_factor', { secret, now: now() })
      if (taken === undefined) throw invalidCredentials(REFUSAL)
      requireActive(account, now())
      const undo = taken.data['undo_deletion'] === true
      await restoreAtSignIn(tx, changed, { account, actor: ownerAt(accountId, client), undo })
      return openSession(tx, changed, { accountId, client, now: now() })
    }),
  )
  await guard.forgive(accountId)
  recordEvent(deps, 'account.signed_in', { account_id: accountId })
  return session
}
