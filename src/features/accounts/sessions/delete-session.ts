import { transaction } from '#cache/transaction.ts'
import { notFound } from '#lib/errors.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { deleteOtherSessions, deleteSessionRow } from './queries.ts'
import type { SessionReference } from './requests.ts'

/** Signs one session of the account out, at once in every process. @throws ApiError 404. */
export async function deleteSession(
  deps: Pick<Deps, 'db' | 'cache'>,
  { accountId, session }: { accountId: string; session: SessionReference },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    if (!(await deleteSessionRow(tx, changed, { accountId, session }))) throw notFound('session')
  })
}

/** Signs out the session of the request; nothing happens where it has ended meanwhile. */
export async function signOut(deps: Pick<Deps, 'db' | 'cache'>, { id, token }: Viewer): Promise<void> {
  const reference = { accountId: id, session: { id: token.id } }
  await transaction(deps, (tx, changed) => deleteSessionRow(tx, changed, reference))
}

/** Signs out all sessions of the caller but the one of the request. */
export async function signOutElsewhere(deps: Pick<Deps, 'db' | 'cache'>, { id, token }: Viewer): Promise<void> {
  await transaction(deps, (tx, changed) => deleteOtherSessions(tx, changed, { accountId: id, exceptId: token.id }))
}
