// Collections as rows. A collection's whole view comes in one statement, for one collection as for a thousand.
import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import { visibleTo } from '#features/basics/access/project-policy.ts'
import { projectViewer } from '#features/catalogue/projects/lookup/visible-lists.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { accountDeleted, notFound, validationError } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { isNamed } from '#platform/db/names.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import type { Collection, DB } from '#platform/db/schema.ts'
import { type CollectionStatus, collectionListedFor, collectionVisibleTo } from './policy.ts'
import { PROJECTS_MAX } from './requests.ts'

export type CollectionRow = Selectable<Collection>

/** A collection as one viewer sees it: with the IDs of those of its projects that they may see, in the creator's order. */
export type CollectionReadRow = CollectionRow & { projects: string[] }

function readCollections(db: Db, viewer: Viewer | null) {
  return db
    .selectFrom('collection')
    .selectAll('collection')
    .select((eb) => visibleProjectIds(eb, viewer).as('projects'))
}

/** Comes as JSON, which the driver reads faster than an array of PostgreSQL. */
function visibleProjectIds(eb: ExpressionBuilder<DB, 'collection'>, viewer: Viewer | null) {
  return eb
    .selectFrom('collection_project')
    .innerJoin('project', 'project.id', 'collection_project.project_id')
    .select(sql<string[]>`coalesce(json_agg(project.id order by collection_project.position), '[]')`.as('ids'))
    .whereRef('collection_project.collection_id', '=', 'collection.id')
    .where(visibleTo(projectViewer(viewer)))
    .$asScalar()
}

/** Collections by ID, of those the viewer may see. */
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

/** The collections of an account that stand in its list for this viewer, newest first. */
export function listCollectionsOf(db: Db, viewer: Viewer | null, accountId: string): Promise<CollectionReadRow[]> {
  return readCollections(db, viewer)
    .where('collection.account_id', '=', accountId)
    .where(collectionListedFor(viewer))
    .orderBy('collection.created', 'desc')
    .orderBy('collection.id')
    .execute() as Promise<CollectionReadRow[]>
}

export type NewCollection = Pick<CollectionRow, 'id' | 'name' | 'icon_url'>

/** The newest of those that stand in lists and hold something that everybody sees. */
export function listNewestCollections(db: Db, limit: number): Promise<NewCollection[]> {
  return db
    .selectFrom('collection')
    .select(['id', 'name', 'icon_url'])
    .where('status', '=', 'listed')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('collection_project')
          .innerJoin('project', 'project.id', 'collection_project.project_id')
          .select('project.id')
          .whereRef('collection_project.collection_id', '=', 'collection.id')
          .where(sql<boolean>`is_searchable(project.status)`),
      ),
    )
    .orderBy('created', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** ID and slug of those projects that `names` name as either and the viewer may see. */
export async function listVisibleProjectNames(
  db: Db,
  viewer: Viewer | null,
  names: readonly string[],
): Promise<{ id: string; slug: string }[]> {
  if (names.length === 0) return []
  return db
    .selectFrom('project')
    .select(['id', 'slug'])
    .where(isNamed('id', 'slug', names))
    .where(visibleTo(projectViewer(viewer)))
    .execute()
}

/** The row, if the viewer may see the collection; undefined otherwise. */
export function findVisibleCollection(db: Db, viewer: Viewer, id: string): Promise<CollectionRow | undefined> {
  return db
    .selectFrom('collection')
    .selectAll()
    .where('id', '=', id)
    .where(collectionVisibleTo(viewer))
    .executeTakeFirst()
}

/** The same, locked until the transaction ends. */
export function lockVisibleCollection(tx: Tx, viewer: Viewer, id: string): Promise<CollectionRow | undefined> {
  return tx
    .selectFrom('collection')
    .selectAll()
    .where('id', '=', id)
    .where(collectionVisibleTo(viewer))
    .forUpdate()
    .executeTakeFirst()
}

/**
 * Makes these the projects of a collection, in this order.
 * @throws ApiError `validation_error` naming `field` when one of them was deleted just now.
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
      throw validationError(field, 'names a project that does not exist any more')
    })
}

/** @throws ApiError 401 when the account was deleted just now. */
export async function insertCollection(
  tx: Tx,
  collection: { id: string; account_id: string; name: string; description: string | null; created: Date },
): Promise<void> {
  await tx
    .insertInto('collection')
    .values({ ...collection, updated: collection.created })
    .execute()
    .catch((error) => {
      throw isForeignKeyViolation(error) ? accountDeleted() : error
    })
}

/**
 * Puts a project behind the others; the caller has locked the collection. `full` where it holds as many as it may.
 * @throws ApiError 404 when the project was deleted just now.
 */
export async function appendProject(
  tx: Tx,
  collectionId: string,
  projectId: string,
): Promise<'changed' | 'same' | 'full'> {
  const listed = await tx
    .selectFrom('collection_project')
    .select(['project_id', 'position'])
    .where('collection_id', '=', collectionId)
    .orderBy('position')
    .execute()
  if (listed.some(({ project_id }) => project_id === projectId)) return 'same'
  if (listed.length >= PROJECTS_MAX) return 'full'
  let position = (listed.at(-1)?.position ?? -1) + 1
  if (position >= PROJECTS_MAX) {
    // Deleted projects have left gaps.
    const ids = listed.map(({ project_id }) => project_id)
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

/** The collections of an account that it may put projects into, newest first, and whether each holds the project. */
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
