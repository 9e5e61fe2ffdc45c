// Reads of accounts as users.
import { type Selectable, sql } from 'kysely'
import type { Db } from '#db/db.ts'
import type { Account } from '#db/schema.ts'
import { ApiError, notFound } from '#lib/errors.ts'

export type AccountRow = Selectable<Account>

/** Accounts that `names` name as ID or, case-insensitively, as username. */
export function listAccountsByNames(db: Db, names: readonly string[]): Promise<AccountRow[]> {
  return db
    .selectFrom('account')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('id', 'in', names),
        eb(
          sql<string>`lower(username)`,
          'in',
          names.map((name) => name.toLowerCase()),
        ),
      ]),
    )
    .execute()
}

export async function getAccount(db: Db, id: string): Promise<AccountRow> {
  const row = await db.selectFrom('account').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('user')
  return row
}

/** The account that `name` names as ID or username; the ID wins. */
export async function getAccountByName(db: Db, name: string): Promise<AccountRow> {
  const rows = await listAccountsByNames(db, [name])
  const row = rows.find(({ id }) => id === name) ?? rows[0]
  if (row === undefined) throw notFound('user')
  return row
}

/** Whether a username is free: neither another's name nor anybody's ID, case aside (decisions.md 1). */
export async function assertUsernameFree(db: Db, username: string, exceptId?: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from account where (lower(username) = lower(${username}) or lower(id) = lower(${username}))
      and id is distinct from ${exceptId ?? null} limit 1`.execute(db)
  if (rows.length > 0) throw usernameTaken()
}

export function usernameTaken(): ApiError {
  return new ApiError('conflict', 'This username is taken', { details: { field: 'username', message: 'is taken' } })
}

/** For a caller whose account was deleted after his token was checked. */
export function accountGone(): ApiError {
  return new ApiError('unauthorized', 'The account of this token does not exist any more')
}
