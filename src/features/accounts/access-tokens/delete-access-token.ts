import { transaction } from '#cache/transaction.ts'
import { actorOf } from '#features/audit/actor.ts'
import { recordAudit } from '#features/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { deleteTokenRow } from './queries.ts'
import type { TokenReference } from './requests.ts'

/** Revokes one token of the viewer's account, at once in every process. @throws ApiError 404. */
export async function deleteAccessToken(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  token: TokenReference,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const id = await deleteTokenRow(tx, changed, { accountId: viewer.id, token })
    if (id === undefined) throw notFound('access token')
    await recordAudit(tx, { action: 'token.deleted', actor: actorOf(viewer), subject: { kind: 'access_token', id } })
  })
}
