import { lockAccountOrLeaving } from '#features/basics/access/accounts.ts'
import { ownerAt } from '#features/basics/audit/actor.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { AccountDeps } from '../account-deps.ts'
import { restoreAtSignIn } from '../deletion/restore-account.ts'
import { findFlow, takeFlow } from '../mail/flows.ts'
import { requireActive } from '../policy.ts'
import type { Client } from '../sessions/queries.ts'
import type { SessionView } from '../sessions/views.ts'
import { useCode } from '../two-factor/codes.ts'
import { openSession, recordRefusal } from './open-session.ts'
import { invalidCredentials } from './sign-in-guard.ts'

const REFUSAL = 'The code is wrong, or the sign-in has expired'

/**
 * Completes a sign-in with a two-factor code. A wrong code counts like a wrong password, and the flow remains valid. A
 * right code uses the flow and the code.
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
      // The code was right, but a concurrent request has used the flow. The rollback makes the code valid again.
      const usedFlow = await takeFlow(tx, 'sign_in_second_factor', { secret, now: now() })
      if (usedFlow === undefined) throw invalidCredentials(REFUSAL)
      requireActive(account, now())
      const undo = usedFlow.data['undo_deletion'] === true
      await restoreAtSignIn(tx, changed, { account, actor: ownerAt(accountId, client), undo })
      return openSession(tx, changed, { accountId, client, now: now() })
    }),
  )
  await guard.forgive(accountId)
  recordEvent(deps, 'account.signed_in', { account_id: accountId })
  return session
}
