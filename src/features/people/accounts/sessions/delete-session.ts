import { lockAccount } from '#features/basics/access/accounts.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { endAccess } from '#features/people/revocation/end-access.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import type { TokenReference } from '../requests.ts'

type SessionDeps = Pick<Deps, 'db' | 'cache'>

/** Ends a session of the viewer's account, immediately in every process. @throws ApiError 404. */
export async function deleteSession(deps: SessionDeps, viewer: Viewer, session: TokenReference): Promise<void> {
  if (!(await endSession(deps, viewer, session))) throw notFound('session')
}

/** Ends the session of the request, if it still exists. */
export async function signOut(deps: SessionDeps, viewer: Viewer): Promise<void> {
  await endSession(deps, viewer, { id: viewer.token.id })
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

/** Returns whether the session existed. */
function endSession(deps: SessionDeps, viewer: Viewer, session: TokenReference): Promise<boolean> {
  return transaction(deps, async (tx, changed) => {
    const row = await tx
      .deleteFrom('session')
      .where('account_id', '=', viewer.id)
      .where((eb) => ('id' in session ? eb('id', '=', session.id) : eb('token_hash', '=', session.hash)))
      .returning(['id', 'token_hash'])
      .executeTakeFirst()
    if (row === undefined) return false
    changed.add('token', row.token_hash.toString('hex'))
    const subject = { kind: 'session', id: row.id } as const
    await recordAudit(tx, { action: 'session.ended', actor: actorOf(viewer), subject })
    return true
  })
}
