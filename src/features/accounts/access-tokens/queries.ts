import type { ChangeSet } from '#cache/changes.ts'
import type { Db, Tx } from '#db/db.ts'
import type { AccessTokenRow } from './views.ts'

/** An account's access tokens, newest first, expired ones too; at most 200 exist. */
export function listAccessTokens(db: Db, accountId: string): Promise<AccessTokenRow[]> {
  return db
    .selectFrom('personal_access_token')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

type OwnToken = { accountId: string; token: { id: string } | { hash: Buffer } }

/** Changes one token of the account; false when it has none such. Without values it only looks. */
export async function updateAccessToken(
  tx: Tx,
  changed: ChangeSet,
  { accountId, id, values }: { accountId: string; id: string; values: { name?: string; expires?: Date } },
): Promise<boolean> {
  const row = await tx
    .updateTable('personal_access_token')
    .set({ account_id: accountId, ...values })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .returning('token_hash')
    .executeTakeFirst()
  if (row !== undefined) changed.add('token', row.token_hash.toString('hex'))
  return row !== undefined
}

/** Revokes one token of the account, named by its ID or its secret's hash; false when it has none such. */
export async function deleteAccessToken(tx: Tx, changed: ChangeSet, { accountId, token }: OwnToken): Promise<boolean> {
  const row = await tx
    .deleteFrom('personal_access_token')
    .where('account_id', '=', accountId)
    .where((eb) => ('id' in token ? eb('id', '=', token.id) : eb('token_hash', '=', token.hash)))
    .returning('token_hash')
    .executeTakeFirst()
  if (row !== undefined) changed.add('token', row.token_hash.toString('hex'))
  return row !== undefined
}
