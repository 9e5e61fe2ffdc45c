// Users as everybody sees them, kept as ready bytes. A change of an account names its ID under `user`.

import type { FilesConfig } from '#features/basics/images/hosted-image.ts'
import { notFound } from '#lib/errors.ts'
import { entityTag, type JsonOf } from '#lib/text/json-bytes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import type { Db } from '#platform/db/db.ts'
import { type AccountRow, listAccountsByNames } from './queries.ts'
import { type PrivateFields, toPrivateFields, toPublicUserView, type UserView } from './views.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    user: true
  }
}

export type UserReader = { db: Db; cache: EntityCache; config: FilesConfig }

export type CachedUser = JsonOf<UserView> & {
  id: string
  username: string
  revision: number
  etag: string
  private: PrivateFields
}

const USER = defineCache({
  name: 'user',
  contains: 'Public profile of a user as JSON',
  idOf: (user: CachedUser) => user.id,
  sizeOf: (user: CachedUser) => user.bytes.length + 400,
  aliasesOf: (user: CachedUser) => [user.username.toLowerCase()],
  foldAlias: (name: string) => name.toLowerCase(),
  revisionOf: (user: CachedUser) => user.revision,
})

function toCachedUser(row: AccountRow, config: FilesConfig): CachedUser {
  const bytes = Buffer.from(JSON.stringify(toPublicUserView(row, config)))
  const { id, username, revision } = row
  return { id, username, revision, bytes, etag: entityTag(bytes), private: toPrivateFields(row) }
}

/** Another form of a user as everybody sees them, kept and dropped with the user. */
export function userForm<D>({ cache }: { cache: EntityCache }, user: CachedUser, form: DerivedForm<CachedUser, D>): D {
  return cache.kind(USER).derive(user, form)
}

/** Returns the user without waiting if they are cached. */
export function peekUser({ cache }: Pick<UserReader, 'cache'>, name: string): CachedUser | undefined {
  return cache.kind(USER).peekNamed(name)
}

/** Users by ID or username (the ID wins), in the order asked for, each once; unknown ones are left out. */
export async function listCachedUsers(
  { db, cache, config }: UserReader,
  names: readonly string[],
): Promise<CachedUser[]> {
  const found = await cache
    .kind(USER)
    .getManyNamed(names, async (missing) =>
      (await listAccountsByNames(db, missing)).map((row) => toCachedUser(row, config)),
    )
  const byId = new Map<string, CachedUser>()
  for (const name of names) {
    const user = found.get(name)
    if (user !== undefined) byId.set(user.id, user)
  }
  return [...byId.values()]
}

/** The user that `name` names as ID or username. @throws ApiError 404. */
export async function getCachedUser(reader: UserReader, name: string): Promise<CachedUser> {
  const [user] = await listCachedUsers(reader, [name])
  if (user === undefined) throw notFound('user')
  return user
}
