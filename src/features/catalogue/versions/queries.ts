// Rows of versions. One statement reads everything for the views of any number of versions.

import { type Selectable, sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { visibleTo } from '#features/basics/access/project-policy.ts'
import { LIST_ORDER } from '#features/basics/access/version-status.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { lockProject, lockProjects, type ProjectRow } from '#features/catalogue/projects/queries.ts'
import type { Db, IdList, Tx } from '#platform/db/db.ts'
import type { Version } from '#platform/db/schema.ts'
import { PACK_LOADERS_FIELD } from './files/pack-loaders.ts'
import type { FileType } from './kinds.ts'
import { isListedAndPasses, NOT_WITHDRAWN, type VersionFilter } from './lookup/version-filter.ts'

export type VersionRow = Selectable<Version>

export type FileRow = {
  id: string
  filename: string
  size_bytes: number
  sha1: string
  sha512: string
  is_primary: boolean
  file_type: FileType | null
}

export type DependencyRow = {
  version_id: string | null
  project_id: string | null
  file_name: string | null
  dependency_type: string
  declared_id: string | null
}

/** A version with its files, its dependencies and the columns of its project that decide who can see it. */
export type VersionReadRow = VersionRow & {
  files: FileRow[]
  dependencies: DependencyRow[]
  project_status: string
  team_id: string
  organization_id: string | null
  /** When the scanner passed the files; null for any other verdict. */
  scan_passed: Date | null
}

export function listVersionReads(db: Db, ids: readonly string[]): Promise<VersionReadRow[]> {
  return (
    db
      .selectFrom('version')
      .innerJoin('project', 'project.id', 'version.project_id')
      .selectAll('version')
      .select((eb) => [
        'project.status as project_status',
        'project.team_id',
        'project.organization_id',
        jsonArrayFrom(
          eb
            .selectFrom('file')
            .select(['id', 'filename', 'size_bytes', 'sha1', 'sha512', 'is_primary', 'file_type'])
            .whereRef('file.version_id', '=', 'version.id')
            .orderBy('is_primary', 'desc')
            .orderBy('filename'),
        ).as('files'),
        jsonArrayFrom(
          eb
            .selectFrom('dependency')
            .select(['version_id', 'project_id', 'file_name', 'dependency_type', 'declared_id'])
            .whereRef('dependency.dependent_id', '=', 'version.id')
            .orderBy('id'),
        ).as('dependencies'),
        eb
          .selectFrom('version_scan')
          .select('finished')
          .whereRef('version_scan.version_id', '=', 'version.id')
          .where('state', '=', 'pass')
          .as('scan_passed'),
      ])
      // One array parameter: 1,000 single parameters cost more than the rows.
      .where(sql<boolean>`version.id = any(${[...ids]}::text[])`)
      .execute()
  )
}

/** A filter with the requested part of the list. */
export type VersionListFilter = VersionFilter & {
  /** Featured versions are a choice of the publisher, so withdrawn ones are not among them. */
  featured?: boolean
  /** Whether to leave out withdrawn versions. Default: false */
  offered?: boolean
  limit?: number
  offset?: number
}

/** Returns the IDs of the listed and archived versions that match the filter, in the order `LIST_ORDER`. */
export async function listVersionIdsOf(db: Db, projectId: string, filter: VersionListFilter): Promise<string[]> {
  return (await filteredVersions(db, projectId, filter).select('version.id').execute()).map(({ id }) => id)
}

/**
 * Returns the IDs of the listed and archived versions that are not withdrawn, of those of the projects that the viewer can
 * see, newest first.
 */
export async function listReleases(
  db: Db,
  viewer: Viewer | null,
  projectIds: IdList,
  { offset, limit }: { offset: number; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select newest.id from unnest(${projectIds}::text[]) as wanted (id)
    join project on project.id = wanted.id and ${visibleTo(viewer)}
    cross join lateral (
      select version.id, version.date_published from version
      where version.project_id = wanted.id and is_listed(version.status) and ${NOT_WITHDRAWN}
      order by version.date_published desc, version.id limit ${offset + limit}) newest
    order by newest.date_published desc, newest.id offset ${offset} limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

/** The columns that describe a version in lists, and decide which versions replace featured ones. */
export type VersionTraits = {
  id: string
  featured: boolean
  loaders: string[]
  /** Loaders that the pack in the version needs. */
  pack_loaders: string[]
  game_versions: string[]
  version_number: string
  date_published: Date
  is_withdrawn: boolean
}

/** Returns the traits of the versions that `listVersionIdsOf` returns, in the same order. */
export async function listVersionTraits(
  db: Db,
  projectId: string,
  filter: VersionListFilter,
): Promise<VersionTraits[]> {
  const rows = await filteredVersions(db, projectId, filter)
    .select(['version.id', 'version.featured', 'version.loaders', 'version.fields'])
    .select(['version.version_number', 'version.date_published'])
    .select(sql<boolean>`version.withdrawn_at is not null`.as('is_withdrawn'))
    .execute()
  return rows.map(({ fields, ...row }) => {
    const textsIn = (name: string): string[] => {
      const value = (fields as Record<string, unknown>)[name]
      return Array.isArray(value) ? value.map(String) : []
    }
    return { ...row, pack_loaders: textsIn(PACK_LOADERS_FIELD), game_versions: textsIn('game_versions') }
  })
}

/** Returns the projects that have listed versions but no release, each with its most stable channel. */
export async function listUnreleased(db: Db, projectIds: readonly string[]): Promise<Map<string, 'alpha' | 'beta'>> {
  if (projectIds.length === 0) return new Map()
  const { rows } = await sql<{ id: string; has_beta: boolean }>`
    select listed.id, exists (
      select from version where project_id = listed.id and is_listed(status) and version_type = 'beta') as has_beta
    from unnest(${projectIds}::text[]) as listed (id)
    where exists (select from version where project_id = listed.id and is_listed(status))
      and not exists (select from version where project_id = listed.id and is_listed(status) and version_type = 'release')
  `.execute(db)
  return new Map(rows.map(({ id, has_beta }) => [id, has_beta ? 'beta' : 'alpha']))
}

function filteredVersions(db: Db, projectId: string, filter: VersionListFilter) {
  let query = db
    .selectFrom('version')
    .where('version.project_id', '=', projectId)
    .where(isListedAndPasses(filter))
    .orderBy(LIST_ORDER)
  if (filter.featured === true || filter.offered === true) query = query.where(NOT_WITHDRAWN)
  if (filter.featured !== undefined) query = query.where('version.featured', '=', filter.featured)
  if (filter.limit !== undefined) query = query.limit(filter.limit)
  if (filter.offset !== undefined) query = query.offset(filter.offset)
  return query
}

/** Finds a listed or archived version by ID, otherwise by number: the first in the order of the list. */
export async function findVersionIdByNumber(db: Db, projectId: string, name: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('version')
    .select('id')
    .where('project_id', '=', projectId)
    .where(sql<boolean>`is_listed(status)`)
    .where((eb) => eb.or([eb('id', '=', name), eb('version_number', '=', name)]))
    .orderBy(sql`(id = ${name})`, 'desc')
    .orderBy(LIST_ORDER)
    .executeTakeFirst()
  return row?.id
}

/** Finds a version of any status by ID, otherwise by number. The caller checks who can see it. */
export async function findAnyVersionId(db: Db, projectId: string, name: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('version')
    .select('id')
    .where('project_id', '=', projectId)
    .where((eb) => eb.or([eb('id', '=', name), eb('version_number', '=', name)]))
    .orderBy(sql`(id = ${name})`, 'desc')
    .orderBy(sql`is_listed(status)`, 'desc')
    .orderBy(LIST_ORDER)
    .executeTakeFirst()
  return row?.id
}

/** Returns the numbers that several listed versions of the project have. */
export async function listSharedNumbersOf(db: Db, projectId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('version')
    .select('version_number')
    .where('project_id', '=', projectId)
    .where(sql<boolean>`is_listed(status)`)
    .groupBy('version_number')
    .having((eb) => eb.fn.countAll(), '>', 1)
    .execute()
  return rows.map(({ version_number }) => version_number)
}

/** A version and its project; both rows are locked until the transaction ends. */
export type LockedVersion = { project: ProjectRow; version: VersionRow }

/** Locks the projects and then the versions, each in the order of their IDs. Skips unknown IDs. */
export async function lockVersions(tx: Tx, ids: readonly string[]): Promise<LockedVersion[]> {
  const owners = await tx.selectFrom('version').select('project_id').distinct().where('id', 'in', ids).execute()
  if (owners.length === 0) return []
  const projects = new Map(
    (
      await lockProjects(
        tx,
        owners.map(({ project_id }) => project_id),
      )
    ).map((project) => [project.id, project]),
  )
  const versions = await tx.selectFrom('version').selectAll().where('id', 'in', ids).orderBy('id').forUpdate().execute()
  return versions.flatMap((version) => {
    const project = projects.get(version.project_id)
    return project === undefined ? [] : [{ project, version }]
  })
}

/** Locks the project and then the version: every command uses this order, so that concurrent edits do not deadlock. */
export async function lockVersion(tx: Tx, id: string): Promise<LockedVersion | undefined> {
  const owner = await tx.selectFrom('version').select('project_id').where('id', '=', id).executeTakeFirst()
  const project = owner === undefined ? undefined : await lockProject(tx, owner.project_id)
  const version = await tx.selectFrom('version').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
  return project === undefined || version === undefined ? undefined : { project, version }
}
