// Reads of accounts for signing in. What everybody sees of them belongs to the users feature.
import { sql } from 'kysely'
import { type AccountRow, listAccountsByNames } from '#features/people/users/queries.ts'
import { ApiError } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'

export function findAccount(db: Db, id: string): Promise<AccountRow | undefined> {
  return db.selectFrom('account').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The account that signs in as `name`: a username, or an e-mail address, which has an `@` and usernames have none. */
export function findAccountBySignInName(db: Db, name: string): Promise<AccountRow | undefined> {
  const column = name.includes('@') ? 'email' : 'username'
  return db
    .selectFrom('account')
    .selectAll()
    .where(sql<string>`lower(${sql.ref(column)})`, '=', sql<string>`lower(${name})`)
    .executeTakeFirst()
}

/** Like `findAccountBySignInName`, and an ID is a name too (it wins); also accounts whose deletion is pending. */
export async function findAccountByAnyName(db: Db, name: string): Promise<AccountRow | undefined> {
  if (name.includes('@')) return findAccountBySignInName(db, name)
  const rows = await listAccountsByNames(db, [name], { withLeaving: true })
  return rows.find(({ id }) => id === name) ?? rows[0]
}

/** @throws ApiError `conflict` naming `email` when another account has this address, case aside. */
export async function assertEmailFree(db: Db, email: string): Promise<void> {
  const taken = await findAccountBySignInName(db, email)
  if (taken !== undefined) throw emailTaken()
}

export function emailTaken(): ApiError {
  return new ApiError('conflict', 'This e-mail address belongs to an account already', {
    details: { field: 'email', message: 'is taken' },
  })
}
