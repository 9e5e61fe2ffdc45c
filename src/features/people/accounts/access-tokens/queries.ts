import type { Insertable, Updateable } from 'kysely'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { PersonalAccessToken } from '#platform/db/schema.ts'
import type { TokenReference } from '../requests.ts'
import type { AccessTokenRow } from './views.ts'

/** Returns an account's access tokens, newest first, including expired ones. */
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

/** Changes a token of the account; returns whether it exists. */
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

/** Deletes a token of the account; returns its ID, or undefined if it does not exist. */
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
