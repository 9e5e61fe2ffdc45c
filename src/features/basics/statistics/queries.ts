// Counts of the catalogue. Triggers maintain them as rows to add up (`migrations/0006_count_catalogue.sql`).
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

export type Statistics = { projects: number; versions: number; files: number; authors: number }

/** Counts approved and archived projects, their listed and archived versions, the files of these, and the authors. */
export async function getStatistics(db: Db): Promise<Statistics> {
  const { rows } = await sql<Statistics>`
    select coalesce(sum(projects), 0)::bigint as projects, coalesce(sum(versions), 0)::bigint as versions,
      coalesce(sum(files), 0)::bigint as files, coalesce(sum(authors), 0)::bigint as authors
    from catalogue_change`.execute(db)
  return rows[0] ?? { projects: 0, versions: 0, files: 0, authors: 0 }
}

/** Replaces all rows by their sum. One statement does it, so that a reader never sees a part. */
export async function foldStatistics(db: Db): Promise<void> {
  await sql`with folded as (delete from catalogue_change returning projects, versions, files, authors)
    insert into catalogue_change (projects, versions, files, authors)
    select coalesce(sum(projects), 0), coalesce(sum(versions), 0), coalesce(sum(files), 0), coalesce(sum(authors), 0)
    from folded`.execute(db)
  await sql`delete from author where teams = 0`.execute(db)
}
