import type { Insertable, Updateable } from 'kysely'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { PersonalAccessToken } from '#platform/db/schema.ts'
import type { TokenReference } from './requests.ts'
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

export async function countAccessTokens(db: Db, accountId: string): Promise<number> {
  const { count } = await db
    .selectFrom('personal_access_token')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return count
}

export function insertAccessToken(tx: Tx, values: Insertable<PersonalAccessToken>): Promise<AccessTokenRow> {
  return tx.insertInto('personal_access_token').values(values).returningAll().executeTakeFirstOrThrow()
}

/** Changes one token of the account; false when it has none such. Without values it only looks. */
export async function updateTokenRow(
  tx: Tx,
  changed: ChangeSet,
  { accountId, id, values }: { accountId: string; id: string; values: Updateable<PersonalAccessToken> },
): Promise<boolean> {
  const row = await tx
    .updateTable('personal_access_token')
    .set({ ...values, account_id: accountId })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .returning('token_hash')
    .executeTakeFirst()
  if (row !== undefined) changed.add('token', row.token_hash.toString('hex'))
  return row !== undefined
}

/** Deletes one token of the account and returns its ID; undefined when it has none such. */
export async function deleteTokenRow(
  tx: Tx,
  changed: ChangeSet,
  { accountId, token }: { accountId: string; token: TokenReference },
): Promise<string | undefined> {
  const row = await tx
    .deleteFrom('personal_access_token')
    .where('account_id', '=', accountId)
    .where((eb) => ('id' in token ? eb('id', '=', token.id) : eb('token_hash', '=', token.hash)))
    .returning(['id', 'token_hash'])
    .executeTakeFirst()
  if (row !== undefined) changed.add('token', row.token_hash.toString('hex'))
  return row?.id
}
