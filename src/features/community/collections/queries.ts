// Rows of collections. One statement reads everything for the views of any number of collections.

import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import { visibleTo } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { projectViewer } from '#features/catalogue/projects/lookup/project-cache.ts'
import { notFound, validationError } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { countRows, type Db, type Tx } from '#platform/db/db.ts'
import { isNamed } from '#platform/db/names.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import type { Collection, DB } from '#platform/db/schema.ts'
import { type CollectionStatus, collectionListedFor, collectionVisibleTo } from './policy.ts'
import { PROJECTS_MAX } from './requests.ts'

export type CollectionRow = Selectable<Collection>

/** Announces a change of a collection as a change of its owner: pages that show collections depend on the owners. */
export function announceCollection(changed: ChangeSet, { account_id }: Pick<CollectionRow, 'account_id'>): void {
  changed.add('user', account_id)
}

/** A collection with the IDs of its projects that the viewer can see, in the order set by the creator. */
export type CollectionReadRow = CollectionRow & { projects: string[] }

function readCollections(db: Db, viewer: Viewer | null) {
  return db
    .selectFrom('collection')
    .selectAll('collection')
    .select((eb) => visibleProjectIds(eb, viewer).as('projects'))
}

/** Selects a JSON array, which the driver parses faster than an array of PostgreSQL. */
function visibleProjectIds(eb: ExpressionBuilder<DB, 'collection'>, viewer: Viewer | null) {
  return eb
    .selectFrom('collection_project')
    .innerJoin('project', 'project.id', 'collection_project.project_id')
    .select(sql<string[]>`coalesce(json_agg(project.id order by collection_project.position), '[]')`.as('ids'))
    .whereRef('collection_project.collection_id', '=', 'collection.id')
    .where(visibleTo(projectViewer(viewer)))
    .$asScalar()
}

/** Returns the collections with these IDs that the viewer can see. */
export async function listCollections(
  db: Db,
  viewer: Viewer | null,
  ids: readonly string[],
): Promise<CollectionReadRow[]> {
  if (ids.length === 0) return []
  return readCollections(db, viewer)
    .where('collection.id', 'in', ids)
    .where(collectionVisibleTo(viewer))
    .execute() as Promise<CollectionReadRow[]>
}

/** Returns the collections of an account that its list shows to the viewer, newest first. */
export function listCollectionsOf(db: Db, viewer: Viewer | null, accountId: string): Promise<CollectionReadRow[]> {
  return readCollections(db, viewer)
    .where('collection.account_id', '=', accountId)
    .where(collectionListedFor(viewer))
    .orderBy('collection.created', 'desc')
    .orderBy('collection.id')
    .execute() as Promise<CollectionReadRow[]>
}

export type NewCollection = Pick<CollectionRow, 'id' | 'name' | 'icon_url' | 'account_id'> & {
  /** Number of searchable projects. */
  project_count: number
  /** Icons of its first searchable projects that have one, at most four. */
  project_icons: string[]
}

/** Returns the newest listed collections that contain a searchable project. */
export async function listNewestCollections(db: Db, limit: number): Promise<NewCollection[]> {
  const { rows } = await sql<NewCollection>`
    select newest.id, newest.name, newest.icon_url, newest.account_id, contents.project_count,
      coalesce(contents.project_icons, '[]') as project_icons
    from (
      select id, account_id, name, icon_url, created from collection
      where status = 'listed' and exists (
        select from collection_project entry join project on project.id = entry.project_id
        where entry.collection_id = collection.id and is_searchable(project.status))
      order by created desc, id limit ${limit}) newest
    cross join lateral (
      select count(*) as project_count,
        to_json((array_agg(project.icon_url order by entry.position) filter (where project.icon_url is not null))[:4])
          as project_icons
      from collection_project entry join project on project.id = entry.project_id
      where entry.collection_id = newest.id and is_searchable(project.status)) contents
    order by newest.created desc, newest.id`.execute(db)
  return rows
}

/** Returns the number of collections that contain a project. */
export function countCollectionsWith(db: Db, projectId: string): Promise<number> {
  return countRows(db.selectFrom('collection_project').where('project_id', '=', projectId))
}

function visibleCollection(db: Db, viewer: Viewer, id: string) {
  return db.selectFrom('collection').selectAll().where('id', '=', id).where(collectionVisibleTo(viewer))
}

/** Returns the row if the viewer can see the collection. */
export function findVisibleCollection(db: Db, viewer: Viewer, id: string): Promise<CollectionRow | undefined> {
  return visibleCollection(db, viewer, id).executeTakeFirst()
}

/** Returns the row, locked until the transaction ends, if the viewer can see the collection. */
export function lockVisibleCollection(tx: Tx, viewer: Viewer, id: string): Promise<CollectionRow | undefined> {
  return visibleCollection(tx, viewer, id).forUpdate().executeTakeFirst()
}

/**
 * Replaces the projects of a collection with these projects, in this order.
 * @throws ApiError `validation_error` naming `field` if a project was deleted in the meantime.
 */
export async function replaceProjects(
  tx: Tx,
  { collectionId, projectIds, field }: { collectionId: string; projectIds: readonly string[]; field: string },
): Promise<void> {
  await tx.deleteFrom('collection_project').where('collection_id', '=', collectionId).execute()
  if (projectIds.length === 0) return
  await sql`insert into collection_project (collection_id, project_id, position)
    select ${collectionId}, listed.id, listed.place - 1
    from unnest(${projectIds}::text[]) with ordinality listed (id, place)`
    .execute(tx)
    .catch((error) => {
      if (!isForeignKeyViolation(error, 'collection_project_project_id_fkey')) throw error
      throw validationError(field, 'contains a project that was deleted')
    })
}

/** Returns the projects of a collection that the viewer cannot see, with their positions, in order. */
export function listHiddenProjects(
  db: Db,
  viewer: Viewer,
  collectionId: string,
): Promise<{ id: string; position: number }[]> {
  return db
    .selectFrom('collection_project')
    .innerJoin('project', 'project.id', 'collection_project.project_id')
    .select(['project.id', 'collection_project.position'])
    .where('collection_project.collection_id', '=', collectionId)
    .where(sql<boolean>`not ${visibleTo(projectViewer(viewer))}`)
    .orderBy('collection_project.position')
    .execute()
}

/**
 * Appends a project; the caller must lock the collection. Returns `full` if the collection has the maximum size.
 * @throws ApiError 404 if the project was deleted in the meantime.
 */
export async function appendProject(
  tx: Tx,
  collectionId: string,
  projectId: string,
): Promise<'changed' | 'same' | 'full'> {
  const rows = await tx
    .selectFrom('collection_project')
    .select(['project_id', 'position'])
    .where('collection_id', '=', collectionId)
    .orderBy('position')
    .execute()
  if (rows.some(({ project_id }) => project_id === projectId)) return 'same'
  if (rows.length >= PROJECTS_MAX) return 'full'
  let position = (rows.at(-1)?.position ?? -1) + 1
  if (position >= PROJECTS_MAX) {
    // Deleted projects have left gaps: renumber the rest.
    const ids = rows.map(({ project_id }) => project_id)
    await replaceProjects(tx, { collectionId, projectIds: ids, field: 'projects' })
    position = ids.length
  }
  await tx
    .insertInto('collection_project')
    .values({ collection_id: collectionId, project_id: projectId, position })
    .execute()
    .catch((error) => {
      throw isForeignKeyViolation(error) ? notFound('project') : error
    })
  return 'changed'
}

export async function removeProject(tx: Tx, collectionId: string, projectId: string): Promise<'changed' | 'same'> {
  const { numDeletedRows } = await tx
    .deleteFrom('collection_project')
    .where('collection_id', '=', collectionId)
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n ? 'changed' : 'same'
}

/** Returns the collections of an account, newest first, and whether each contains the project. */
export function listSavedIn(
  db: Db,
  accountId: string,
  projectId: string,
): Promise<{ id: string; name: string; status: CollectionStatus; is_saved: boolean }[]> {
  return db
    .selectFrom('collection')
    .select(['id', 'name', 'status'])
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom('collection_project')
            .select('project_id')
            .whereRef('collection_project.collection_id', '=', 'collection.id')
            .where('collection_project.project_id', '=', projectId),
        )
        .as('is_saved'),
    )
    .where('account_id', '=', accountId)
    .orderBy('created', 'desc')
    .orderBy('id')
    .$castTo<{ id: string; name: string; status: CollectionStatus; is_saved: boolean }>()
    .execute()
}

/**
 * Returns the IDs of the projects with these IDs or slugs, in this order and without duplicates. An ID takes precedence.
 * @throws ApiError `validation_error` naming the first project that is unknown or hidden from the viewer.
 */
export async function resolveProjects(
  db: Db,
  viewer: Viewer,
  { names, field }: { names: readonly string[]; field: string },
): Promise<string[]> {
  const found = await findProjectIds(db, viewer, names)
  const ids = found.map((id, index) => {
    if (id === undefined)
      throw validationError(`${field}.${index}`, 'must be the ID or slug of a project that you can see')
    return id
  })
  return [...new Set(ids)]
}

/** Returns the IDs of the projects with these IDs or slugs, undefined for those that are unknown or hidden from the viewer. */
export async function findProjectIds(
  db: Db,
  viewer: Viewer,
  names: readonly string[],
): Promise<(string | undefined)[]> {
  if (names.length === 0) return []
  const projects = await db
    .selectFrom('project')
    .select(['id', 'slug'])
    .where(isNamed('id', 'slug', names))
    .where(visibleTo(projectViewer(viewer)))
    .execute()
  const idByName = new Map(projects.map(({ id, slug }) => [slug, id]))
  for (const { id } of projects) idByName.set(id, id)
  return names.map((name) => idByName.get(name) ?? idByName.get(name.toLowerCase()))
}
