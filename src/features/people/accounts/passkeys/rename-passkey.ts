import type { Viewer } from '#features/basics/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import type { AccountDeps } from '../account-deps.ts'
import { toPasskeyName } from './requests.ts'

/** Renames a passkey of the viewer. @throws ApiError `validation_error`, 404 */
export async function renamePasskey(
  { db }: Pick<AccountDeps, 'db'>,
  viewer: Viewer,
  { id, name }: { id: string; name: string },
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('passkey')
    .set({ name: toPasskeyName(name) })
    .where('id', '=', id)
    .where('account_id', '=', viewer.id)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw notFound('passkey')
}
