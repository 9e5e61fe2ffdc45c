import { transaction } from '#cache/transaction.ts'
import { notFound } from '#lib/errors.ts'
import type { Deps } from '#main/deps.ts'
import { deleteTokenRow } from './queries.ts'
import type { TokenReference } from './requests.ts'

/** Revokes one token of the account, at once in every process. @throws ApiError 404. */
export async function deleteAccessToken(
  deps: Pick<Deps, 'db' | 'cache'>,
  { accountId, token }: { accountId: string; token: TokenReference },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    if (!(await deleteTokenRow(tx, changed, { accountId, token }))) throw notFound('access token')
  })
}
