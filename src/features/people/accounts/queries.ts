// Queries of accounts for sign-in. The feature `users` has the public queries.
import { sql } from 'kysely'
import { type AccountRow, listAccountsByNames } from '#features/people/users/queries.ts'
import { ApiError } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'

/** Returns the account with this username or email address. Only email addresses contain an `@`. */
export function findAccountBySignInName(db: Db, name: string): Promise<AccountRow | undefined> {
  const column = name.includes('@') ? 'email' : 'username'
  return db
    .selectFrom('account')
    .selectAll()
    .where(sql<string>`lower(${sql.ref(column)})`, '=', sql<string>`lower(${name})`)
    .executeTakeFirst()
}

/** Returns the account with this ID, username or email address, even if its deletion is pending. */
export async function findAccountByAnyName(db: Db, name: string): Promise<AccountRow | undefined> {
  if (name.includes('@')) return findAccountBySignInName(db, name)
  const rows = await listAccountsByNames(db, [name], { withLeaving: true })
  return rows.find(({ id }) => id === name) ?? rows[0]
}

export function emailTaken(): ApiError {
  return new ApiError('conflict', 'Another account has this email address', {
    details: { field: 'email', message: 'is taken' },
  })
}
