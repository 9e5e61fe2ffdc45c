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
  downloads: number
  date_published: Date
  loaders: string[]
  game_versions: string[]
  draft_expires: Date | null
  total: number
}

/** Returns a page of all versions of a project, drafts first, then the newest first. Each row has the total number. */
export async function listAllVersions(
  db: Db,
  projectId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<VersionListRow[]> {
  const { rows } = await sql<VersionListRow>`
    select id, name, version_number, version_type, status, featured, downloads, date_published, loaders, draft_expires,
      coalesce((select array_agg(value) from jsonb_array_elements_text(version.fields -> 'game_versions') value), '{}')
        as game_versions,
      count(*) over ()::int as total
    from version where project_id = ${projectId}
    order by (status = 'draft') desc, date_published desc, id
    limit ${limit} offset ${offset}`.execute(db)
  return rows
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
