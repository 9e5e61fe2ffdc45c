import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import type { TokenReference } from '../requests.ts'
import { deleteTokenRow } from './queries.ts'

/** Revokes a token of an account, immediately in every process. @throws ApiError 404. */
export async function deleteAccessToken(
  deps: Pick<Deps, 'db' | 'cache'>,
  { accountId, token, actor }: { accountId: string; token: TokenReference; actor: Actor },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const id = await deleteTokenRow(tx, changed, { accountId, token })
    if (id === undefined) throw notFound('access token')
    await recordAudit(tx, { action: 'token.deleted', actor, subject: { kind: 'access_token', id } })
  })
}
