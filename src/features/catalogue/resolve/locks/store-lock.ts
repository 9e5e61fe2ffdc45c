// Stores answers as locks, and reads them.
import { sql } from 'kysely'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { ApiError, notFound } from '#lib/errors.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'
import type { Answer, PackTarget } from '../answer.ts'
import type { AnswerView } from '../views.ts'

/** A lock is deleted this long after it was last read. */
export const KEPT_DAYS = 90
/** The time of the last read is written at most this often. */
const NOTED_EVERY_MS = DAY_MS

type LockDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

/** @throws ApiError 503 in read-only mode. */
export async function requireWritable(deps: LockDeps): Promise<void> {
  const settings = await getSettings(deps)
  if (settings.read_only)
    throw new ApiError('service_unavailable', settings.read_only_message, { headers: { 'retry-after': '60' } })
}

/** Stores the answer, or prolongs the same lock. */
export async function storeLock(
  { db, now }: Pick<LockDeps, 'db' | 'now'>,
  { lock, target, files, content }: Answer,
): Promise<void> {
  const { name = null, version = null, loader_version = null, loaders, game_versions } = target
  const at = new Date(now())
  await db
    .insertInto('version_lock')
    .values({
      id: lock,
      target: JSON.stringify({ name, version, loader_version, loaders, game_versions } satisfies PackTarget),
      version_ids: files.map(({ versionId }) => versionId),
      sha1s: files.map(({ sha1 }) => sha1),
      content,
      created: at,
      last_read: at,
    })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ last_read: at }))
    .execute()
}

/** Returns the JSON of a lock with relative addresses. @throws ApiError 404. */
export async function getLockContent(deps: LockDeps, id: string): Promise<string> {
  const row = await deps.db
    .selectFrom('version_lock')
    .select(['content', 'last_read'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (row === undefined) throw notFound('lock')
  await noteRead(deps, id, row.last_read)
  return row.content
}

export type LockFiles = {
  target: PackTarget
  files: { versionId: string; sha1: string }[]
  /** IDs of the versions that the request named, without those that they require. */
  named: ReadonlySet<string>
}

/** Returns what a pack needs. @throws ApiError 404. */
export async function getLockFiles(deps: LockDeps, id: string): Promise<LockFiles> {
  const row = await deps.db
    .selectFrom('version_lock')
    .select(['target', 'version_ids', 'sha1s', 'content', 'last_read'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (row === undefined) throw notFound('lock')
  await noteRead(deps, id, row.last_read)
  const { items } = JSON.parse(row.content) as Pick<AnswerView, 'items'>
  return {
    named: new Set(items.flatMap(({ version_id }) => version_id ?? [])),
    target: row.target as unknown as PackTarget,
    files: row.version_ids.map((versionId, index) => ({ versionId, sha1: row.sha1s[index] ?? '' })),
  }
}

async function noteRead(deps: LockDeps, id: string, lastRead: Date): Promise<void> {
  const at = deps.now()
  if (at - lastRead.getTime() < NOTED_EVERY_MS || (await getSettings(deps)).read_only) return
  await deps.db
    .updateTable('version_lock')
    .set({ last_read: new Date(at) })
    .where('id', '=', id)
    .execute()
}

/** Deletes the locks that nobody has read for a long time, except those of saved packs. */
export async function forgetLocks({ db, now }: Pick<Deps, 'db' | 'now'>): Promise<void> {
  await db
    .deleteFrom('version_lock')
    .where('last_read', '<', new Date(now() - KEPT_DAYS * DAY_MS))
    .where(sql<boolean>`not exists (select from pack_save where lock_id = version_lock.id)`)
    .execute()
}
