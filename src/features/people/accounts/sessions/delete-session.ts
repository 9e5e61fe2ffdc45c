import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import type { TokenReference } from '../requests.ts'
import { deleteOtherSessions, deleteSessionRow } from './queries.ts'

/** Ends a session of the viewer's account, immediately in every process. @throws ApiError 404. */
export async function deleteSession(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  session: TokenReference,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const id = await deleteSessionRow(tx, changed, { accountId: viewer.id, session })
    if (id === undefined) throw notFound('session')
    await recordEnd(tx, viewer, id)
  })
}

/** Ends the session of the request, if it still exists. */
export async function signOut(deps: Pick<Deps, 'db' | 'cache'>, viewer: Viewer): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const reference = { accountId: viewer.id, session: { id: viewer.token.id } }
    const id = await deleteSessionRow(tx, changed, reference)
    if (id !== undefined) await recordEnd(tx, viewer, id)
  })
}

/** Ends all sessions of the caller except the session of the request. */
export async function signOutElsewhere(deps: Pick<Deps, 'db' | 'cache'>, viewer: Viewer): Promise<void> {
  const { id: accountId, token } = viewer
  await transaction(deps, async (tx, changed) => {
    await deleteOtherSessions(tx, changed, { accountId, exceptId: token.id })
    const subject = { kind: 'user', id: accountId } as const
    await recordAudit(tx, { action: 'session.ended', actor: actorOf(viewer), subject, details: { all_others: true } })
  })
}

async function recordEnd(tx: Tx, viewer: Viewer, id: string): Promise<void> {
  await recordAudit(tx, { action: 'session.ended', actor: actorOf(viewer), subject: { kind: 'session', id } })
}
