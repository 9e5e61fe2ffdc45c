import { accountDeleted } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import type { EmailKind } from './email-kinds.ts'
import type { EmailSettingsPatch } from './requests.ts'

/** Stores the decisions of a patch; null deletes a decision, so that the default applies. @throws ApiError 401 */
export async function updateEmailSettings(
  db: Db,
  accountId: string,
  patch: EmailSettingsPatch['email'],
): Promise<void> {
  const changes = Object.entries(patch ?? {}) as [EmailKind, boolean | null][]
  const reset = changes.filter(([, value]) => value === null).map(([kind]) => kind)
  const decided = changes.flatMap(([kind, is_emailed]) =>
    is_emailed === null ? [] : [{ account_id: accountId, kind, is_emailed }],
  )
  if (changes.length === 0) return
  try {
    await db.transaction().execute(async (tx) => {
      if (reset.length > 0) await deleteDecisions(tx, accountId, reset)
      if (decided.length > 0) await storeDecisions(tx, decided)
    })
  } catch (error) {
    if (isForeignKeyViolation(error)) throw accountDeleted()
    throw error
  }
}

async function deleteDecisions(tx: Tx, accountId: string, kinds: readonly EmailKind[]): Promise<void> {
  await tx.deleteFrom('email_setting').where('account_id', '=', accountId).where('kind', 'in', kinds).execute()
}

async function storeDecisions(
  tx: Tx,
  rows: readonly { account_id: string; kind: EmailKind; is_emailed: boolean }[],
): Promise<void> {
  await tx
    .insertInto('email_setting')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'kind']).doUpdateSet((eb) => ({ is_emailed: eb.ref('excluded.is_emailed') })),
    )
    .execute()
}
