// The counts of the catalogue, which triggers keep (`migrations/0006_count_catalogue.sql`): a read adds up a few rows.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'

export type Statistics = { projects: number; versions: number; files: number; authors: number }

/** Approved and archived projects, their listed and archived versions, the files of these, and the people behind them. */
export async function getStatistics(db: Db): Promise<Statistics> {
  return db
    .selectFrom('catalogue_change')
    .select((eb) => [
      eb.cast<number>(eb.fn.coalesce(eb.fn.sum('projects'), eb.lit(0)), 'bigint').as('projects'),
      eb.cast<number>(eb.fn.coalesce(eb.fn.sum('versions'), eb.lit(0)), 'bigint').as('versions'),
      eb.cast<number>(eb.fn.coalesce(eb.fn.sum('files'), eb.lit(0)), 'bigint').as('files'),
      eb.cast<number>(eb.fn.coalesce(eb.fn.sum('authors'), eb.lit(0)), 'bigint').as('authors'),
    ])
    .executeTakeFirstOrThrow()
}

/** The same by counting everything, which reads the whole catalogue: for checks. */
export async function recountStatistics(db: Db): Promise<Statistics> {
  const { rows } = await sql<Statistics>`select projects, versions, files, authors from catalogue_recount()`.execute(db)
  const [counted] = rows
  if (counted === undefined) throw new Error('catalogue_recount() gave no row')
  return counted
}

/** Adds the changes so far up into one row. In one statement: a reader sees the rows before or the row after. */
export async function foldStatistics(db: Db): Promise<void> {
  await sql`with folded as (delete from catalogue_change returning projects, versions, files, authors)
    insert into catalogue_change (projects, versions, files, authors)
    select coalesce(sum(projects), 0), coalesce(sum(versions), 0), coalesce(sum(files), 0), coalesce(sum(authors), 0)
    from folded`.execute(db)
  await sql`delete from author where teams = 0`.execute(db)
}
