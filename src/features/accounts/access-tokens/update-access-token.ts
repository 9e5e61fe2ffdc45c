import { transaction } from '#cache/transaction.ts'
import { notFound } from '#lib/errors.ts'
import type { Deps } from '#main/deps.ts'
import { updateTokenRow } from './queries.ts'
import { type TokenPatch, toTokenColumns } from './requests.ts'

/** Renames or prolongs a token. @throws ApiError `validation_error` naming the field, 404. */
export async function updateAccessToken(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  { accountId, id, patch }: { accountId: string; id: string; patch: TokenPatch },
): Promise<void> {
  const values = toTokenColumns(patch, deps.now())
  await transaction(deps, async (tx, changed) => {
    if (!(await updateTokenRow(tx, changed, { accountId, id, values }))) throw notFound('access token')
  })
}
