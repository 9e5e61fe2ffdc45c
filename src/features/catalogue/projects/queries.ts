// Rows of projects. One statement reads everything for the views of any number of projects.
import { type Selectable, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { visibleTo } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { ApiError } from '#lib/errors.ts'
import type { Db, IdList, Page, Tx } from '#platform/db/db.ts'
import { isNamed } from '#platform/db/names.ts'
import type { Project } from '#platform/db/schema.ts'

export type ProjectRow = Selectable<Project>

export type GalleryRow = {
  url: string
  raw_url: string
  width: number | null
  height: number | null
  copy_widths: number[]
  featured: boolean
  name: string | null
  description: string | null
  created: string
  ordering: number
  video: string | null
}

/** A project with its gallery and the values that its view aggregates from listed and archived versions. */
export type ProjectReadRow = ProjectRow & {
  thread_id: string | null
  gallery: GalleryRow[]
  /** Oldest first. */
  version_ids: string[] | null
  loaders: string[] | null
  /** Loader field → its distinct values. */
  field_values: Record<string, unknown[]> | null
  /** Environment of the newest version whose loaders have one. */
  environment: string | null
}

function readProjects(db: Db, environmentLoaders: readonly string[]) {
  return db
    .selectFrom('project')
    .selectAll('project')
    .select((eb) => [
      eb.selectFrom('thread').select('thread.id').whereRef('thread.project_id', '=', 'project.id').as('thread_id'),
      jsonArrayFrom(
        eb
          .selectFrom('gallery_item')
          .select(['url', 'raw_url', 'width', 'height', 'copy_widths'])
          .select(['featured', 'name', 'description', 'created', 'ordering', 'video'])
          .whereRef('gallery_item.project_id', '=', 'project.id')
          .orderBy('ordering')
          .orderBy('created')
          .orderBy('id'),
      ).as('gallery'),
      sql<string[] | null>`(select array_agg(v.id order by v.date_published, v.id) from version v
        where v.project_id = project.id and is_listed(v.status))`.as('version_ids'),
      sql<string[] | null>`(select array_agg(distinct l) from version v, unnest(v.loaders) l
        where v.project_id = project.id and is_listed(v.status))`.as('loaders'),
      sql<Record<string, unknown[]> | null>`(select jsonb_object_agg(collected.key, collected.vals) from (
        select field.key, jsonb_agg(distinct element.value) as vals
        from version v, jsonb_each(v.fields) field, jsonb_array_elements(
          case jsonb_typeof(field.value) when 'array' then field.value else jsonb_build_array(field.value) end) element
        where v.project_id = project.id and is_listed(v.status)
        group by field.key) collected)`.as('field_values'),
      sql<string | null>`(select v.fields ->> 'environment' from version v
        where v.project_id = project.id and is_listed(v.status) and v.fields ? 'environment'
          and v.loaders && ${[...environmentLoaders]}::text[]
        order by v.ordering, v.number_key desc nulls last, v.date_published desc, v.id limit 1)`.as('environment'),
    ])
}

/** Number of names per statement, far below the limit of PostgreSQL. */
const BATCH_NAMES = 5_000

/**
 * Returns the projects whose ID is in `names` or whose slug is in `names`, lower-cased. `environmentLoaders` are the loaders
 * with the field `environment`.
 */
export async function listProjectReadsByNames(
  db: Db,
  names: readonly string[],
  environmentLoaders: readonly string[],
): Promise<ProjectReadRow[]> {
  const rows: ProjectReadRow[] = []
  for (let start = 0; start < names.length; start += BATCH_NAMES) {
    const named = isNamed('project.id', 'project.slug', names.slice(start, start + BATCH_NAMES))
    rows.push(...(await readProjects(db, environmentLoaders).where(named).execute()))
  }
  return rows
}

/** Returns the row, locked until the transaction ends. */
export function lockProject(tx: Tx, id: string): Promise<ProjectRow | undefined> {
  return tx.selectFrom('project').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Returns the rows of the existing projects, locked in the order of their IDs to prevent deadlocks. */
export function lockProjects(tx: Tx, ids: readonly string[]): Promise<ProjectRow[]> {
  return tx.selectFrom('project').selectAll().where('id', 'in', ids).orderBy('id').forUpdate().execute()
}

/** Sets the project's `updated`. */
export async function touchProject(tx: Tx, id: string, at: Date): Promise<void> {
  await tx.updateTable('project').set({ updated: at }).where('id', '=', id).execute()
}

/** Sets `updated` of these projects. */
export async function touchProjects(tx: Tx, ids: readonly string[], at: Date): Promise<void> {
  await tx.updateTable('project').set({ updated: at }).where('id', 'in', ids).execute()
}

/** Saves the perceptual hash of a project's icon, with which similar icons are found. */
export async function setLikenessOfIcon(tx: Tx, projectId: string, icon: string | null): Promise<void> {
  await tx.updateTable('project_likeness').set({ icon }).where('project_id', '=', projectId).execute()
}

/** Slugs that are the last part of a path of the API. A project that has one already is found by its ID. */
const RESERVED_SLUGS = ['similar']

export const isReservedSlug = (slug: string): boolean => RESERVED_SLUGS.includes(slug)

/** @throws ApiError `conflict` if the slug is reserved, or another project has this slug, or an ID that differs from it only in case. */
export async function assertProjectSlugFree(db: Db, slug: string, exceptId?: string): Promise<void> {
  if (isReservedSlug(slug))
    throw new ApiError('conflict', 'This slug is reserved', { details: { field: 'slug', message: 'is reserved' } })
  const { rows } = await sql`select 1 from project where (slug = ${slug} or lower(id) = ${slug})
    and id is distinct from ${exceptId ?? null} limit 1`.execute(db)
  if (rows.length > 0) throw projectSlugTaken()
}

export function projectSlugTaken(): ApiError {
  return new ApiError('conflict', 'This slug is taken', { details: { field: 'slug', message: 'is taken' } })
}

/** Returns the IDs of all versions of a project, for cache invalidation when the visibility of the project changes. */
export async function listVersionIds(db: Db, projectId: string): Promise<string[]> {
  const rows = await db.selectFrom('version').select('id').where('project_id', '=', projectId).execute()
  return rows.map(({ id }) => id)
}

/** Returns the IDs of all projects of an organization. */
export async function listProjectIdsOfOrganization(db: Db, organizationId: string): Promise<string[]> {
  const rows = await db.selectFrom('project').select('id').where('organization_id', '=', organizationId).execute()
  return rows.map(({ id }) => id)
}

/** Returns the IDs of those of the projects that the viewer can see, most recently updated first. */
export async function listUpdatedIds(
  db: Db,
  viewer: Viewer | null,
  ids: IdList,
  { offset, limit }: Page,
): Promise<string[]> {
  const rows = await db
    .selectFrom('project')
    .select('id')
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .where(visibleTo(viewer))
    .orderBy('updated', 'desc')
    .orderBy('id')
    .offset(offset)
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
