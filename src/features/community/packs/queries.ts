// Rows of packs with their newest save. One statement reads any number of packs.
import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import { visibleTo } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { projectViewer } from '#features/catalogue/projects/lookup/project-cache.ts'
import { validationError } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import type { Pack } from '#platform/db/schema.ts'
import { type PackStatus, packListedFor, packVisibleTo } from './policy.ts'

export type PackRow = Omit<Selectable<Pack>, 'status'> & { status: PackStatus }
/** A pack with the projects that the viewer can see, in order, and its newest save. */
export type PackReadRow = PackRow & { projects: string[]; number: number; lock_id: string }
export type SaveRow = { number: number; lock_id: string; created: Date }

/** Announces a change of a pack as a change of its owner: pages that show packs depend on the owners. */
export function announcePack(changed: ChangeSet, { account_id }: Pick<PackRow, 'account_id'>): void {
  changed.add('user', account_id)
}

async function readPacks(db: Db, viewer: Viewer | null, condition: RawBuilder<SqlBool>): Promise<PackReadRow[]> {
  const { rows } = await sql<PackReadRow>`
    select pack.*, newest.number, newest.lock_id,
      (select coalesce(json_agg(project.id order by entry.position), '[]') from pack_project entry
        join project on project.id = entry.project_id
        where entry.pack_id = pack.id and ${visibleTo(projectViewer(viewer))}) as projects
    from pack join lateral (select number, lock_id from pack_save
      where pack_save.pack_id = pack.id order by number desc limit 1) newest on true
    where ${condition} order by pack.created desc, pack.id`.execute(db)
  return rows
}

/** Returns the pack with this ID if the viewer can see it. */
export async function findPack(db: Db, viewer: Viewer | null, id: string): Promise<PackReadRow | undefined> {
  const [row] = await readPacks(db, viewer, sql<SqlBool>`pack.id = ${id} and ${packVisibleTo(viewer)}`)
  return row
}

/** Returns the pack of an account with this slug, or that had it before, if the viewer can see it. */
export async function findPackBySlug(
  db: Db,
  viewer: Viewer | null,
  { accountId, slug }: { accountId: string; slug: string },
): Promise<PackReadRow | undefined> {
  const folded = slug.toLowerCase()
  const [row] = await readPacks(
    db,
    viewer,
    sql<SqlBool>`${packVisibleTo(viewer)} and pack.id = coalesce(
      (select id from pack named where named.account_id = ${accountId} and named.slug = ${folded}),
      (select pack_id from pack_previous_slug former where former.account_id = ${accountId} and former.slug = ${folded}))`,
  )
  return row
}

/** Returns the packs of an account that its list shows to the viewer, newest first. */
export function listPacksOf(db: Db, viewer: Viewer | null, accountId: string): Promise<PackReadRow[]> {
  return readPacks(db, viewer, sql<SqlBool>`pack.account_id = ${accountId} and ${packListedFor(viewer)}`)
}

/** Returns the row, locked until the transaction ends, if the viewer can see the pack. */
export async function lockVisiblePack(tx: Tx, viewer: Viewer, id: string): Promise<PackRow | undefined> {
  const { rows } = await sql<PackRow>`select pack.* from pack
    where pack.id = ${id} and ${packVisibleTo(viewer)} for update of pack`.execute(tx)
  return rows[0]
}

/** Returns the saves of a pack, newest first, at most `limit`. */
export function listSaves(db: Db, packId: string, limit: number): Promise<SaveRow[]> {
  return db
    .selectFrom('pack_save')
    .select(['number', 'lock_id', 'created'])
    .where('pack_id', '=', packId)
    .orderBy('number', 'desc')
    .limit(limit)
    .execute()
}

export function findSave(db: Db, packId: string, number: number): Promise<SaveRow | undefined> {
  return db
    .selectFrom('pack_save')
    .select(['number', 'lock_id', 'created'])
    .where('pack_id', '=', packId)
    .where('number', '=', number)
    .executeTakeFirst()
}

/**
 * Replaces the projects of a pack with these projects, in this order.
 * @throws ApiError `validation_error` naming `projects` if a project was deleted in the meantime.
 */
export async function replacePackProjects(tx: Tx, packId: string, projectIds: readonly string[]): Promise<void> {
  await tx.deleteFrom('pack_project').where('pack_id', '=', packId).execute()
  await sql`insert into pack_project (pack_id, project_id, position)
    select ${packId}, listed.id, listed.place - 1 from unnest(${[...projectIds]}::text[]) with ordinality listed (id, place)`
    .execute(tx)
    .catch((error) => {
      if (!isForeignKeyViolation(error, 'pack_project_project_id_fkey')) throw error
      throw validationError('projects', 'contains a project that was deleted')
    })
}
