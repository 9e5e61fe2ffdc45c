import { lockAccount } from '#features/basics/access/accounts.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type Actor, actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { endAccess } from '#features/people/revocation/end-access.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import type { TokenReference } from '../requests.ts'

type SessionDeps = Pick<Deps, 'db' | 'cache'>

/** Ends a session of the viewer's account, immediately in every process. @throws ApiError 404. */
export async function deleteSession(deps: SessionDeps, viewer: Viewer, session: TokenReference): Promise<void> {
  if (!(await endSession(deps, actorOf(viewer), { accountId: viewer.id, session }))) throw notFound('session')
}

/** Ends the session of the request, if it still exists. */
export async function signOut(deps: SessionDeps, viewer: Viewer): Promise<void> {
  await endSession(deps, actorOf(viewer), { accountId: viewer.id, session: { id: viewer.token.id } })
}

/** Ends all sessions and incomplete sign-ins of the caller, except the session of the request. */
export async function signOutElsewhere(deps: SessionDeps & Pick<Deps, 'now'>, viewer: Viewer): Promise<void> {
  const { id: accountId, token } = viewer
  await transaction(deps, async (tx, changed) => {
    await lockAccount(tx, accountId)
    await endAccess(tx, changed, 'signed_out', { accountId, now: deps.now(), exceptSessionId: token.id })
    const subject = { kind: 'user', id: accountId } as const
    await recordAudit(tx, { action: 'session.ended', actor: actorOf(viewer), subject, details: { all_others: true } })
  })
}

/** Ends a session of an account, immediately in every process. Returns whether the session existed. */
export function endSession(
  deps: SessionDeps,
  actor: Actor,
  { accountId, session }: { accountId: string; session: TokenReference },
): Promise<boolean> {
  return transaction(deps, async (tx, changed) => {
    const row = await tx
      .deleteFrom('session')
      .where('account_id', '=', accountId)
      .where((eb) => ('id' in session ? eb('id', '=', session.id) : eb('token_hash', '=', session.hash)))
      .returning(['id', 'token_hash'])
      .executeTakeFirst()
    if (row === undefined) return false
    changed.add('token', row.token_hash.toString('hex'))
    const subject = { kind: 'session', id: row.id } as const
    await recordAudit(tx, { action: 'session.ended', actor, subject, accountIds: [accountId] })
    return true
  })
}
