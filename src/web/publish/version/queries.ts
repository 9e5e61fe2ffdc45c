// Statements for the pages of versions.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

export type VersionListRow = {
  id: string
  name: string
  version_number: string
  version_type: string
  status: string
  featured: boolean
  is_withdrawn: boolean
  downloads: number
  date_published: Date
  loaders: string[]
  game_versions: string[]
  /** Whether the version was never published. */
  is_new_draft: boolean
  total: number
}

/** Returns a page of all versions of a project, drafts first, then the newest first. Each row has the total number. */
export async function listAllVersions(
  db: Db,
  projectId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<VersionListRow[]> {
  const { rows } = await sql<VersionListRow>`
    select id, name, version_number, version_type, status, featured, withdrawn_at is not null as is_withdrawn, downloads, date_published, loaders, is_new_draft,
      coalesce((select array_agg(value) from jsonb_array_elements_text(version.fields -> 'game_versions') value), '{}')
        as game_versions,
      count(*) over ()::int as total
    from version where project_id = ${projectId}
    order by (status = 'draft') desc, date_published desc, id
    limit ${limit} offset ${offset}`.execute(db)
  return rows
}

/** Returns whether the version was never published. */
export async function isNewDraft(db: Db, versionId: string): Promise<boolean> {
  const row = await db.selectFrom('version').select('is_new_draft').where('id', '=', versionId).executeTakeFirst()
  return row?.is_new_draft === true
}

/** Returns the number of dependencies of other versions on a version. */
export async function countDependents(db: Db, versionId: string): Promise<number> {
  const { count } = await db
    .selectFrom('dependency')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('version_id', '=', versionId)
    .executeTakeFirstOrThrow()
  return count
}

/** Number of versions of a project that a dependency can choose from. */
const CHOICES_MAX = 30

export type VersionChoice = { project_id: string; id: string; version_number: string }

/** Returns the newest listed versions of each project, and those of `chosen`. */
export async function listVersionChoices(
  db: Db,
  projectIds: readonly string[],
  chosen: readonly string[],
): Promise<VersionChoice[]> {
  if (projectIds.length === 0) return []
  const { rows } = await sql<VersionChoice>`
    select wanted.id as project_id, choice.id, choice.version_number
    from unnest(${[...projectIds]}::text[]) wanted (id) cross join lateral (
      (select id, version_number, date_published from version
        where project_id = wanted.id and is_listed(status) order by date_published desc, id limit ${CHOICES_MAX})
      union
      (select id, version_number, date_published from version
        where project_id = wanted.id and id = any(${[...chosen]}::text[]))
    ) choice
    order by wanted.id, choice.date_published desc, choice.id`.execute(db)
  return rows
}

/** Returns the median duration of the scans of a project in seconds; undefined without finished scans. */
export async function usualScanSeconds(db: Db, projectId: string): Promise<number | undefined> {
  const { rows } = await sql<{ seconds: number | null }>`
    select percentile_cont(0.5) within group (order by extract(epoch from finished - requested))::float8 as seconds
    from version_scan join version on version.id = version_scan.version_id
    where version.project_id = ${projectId} and finished is not null and released_by is null`.execute(db)
  return rows[0]?.seconds ?? undefined
}
