// Stores and reads the daily measurements of the storage.
import { type Selectable, sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { StorageMeasure } from '#platform/db/schema.ts'

export type StorageRow = Omit<Selectable<StorageMeasure>, 'day' | 'details'>
export type LargeProject = { id: string; bytes: number; files: number }
export type StorageDetails = { largest: LargeProject[]; orphans: { key: string; bytes: number }[] }

/** Number of projects in the list of the largest. */
const LARGEST_SHOWN = 50
/** Number of days whose measurements are stored. */
export const MEASURES_RETAINED_DAYS = 90

/** Stores a measurement as the row of its day (UTC). Only the newest row has details. */
export async function saveMeasure(db: Db, row: StorageRow, details: StorageDetails): Promise<void> {
  const day = sql<Date>`(${row.measured}::timestamptz at time zone 'UTC')::date`
  const values = { ...row, details: JSON.stringify(details) }
  await db
    .insertInto('storage_measure')
    .values({ day, ...values })
    .onConflict((conflict) => conflict.column('day').doUpdateSet(values))
    .execute()
  await sql`update storage_measure set details = null where day < ${day} and details is not null`.execute(db)
  await sql`delete from storage_measure where day < ${day} - ${MEASURES_RETAINED_DAYS}::int`.execute(db)
}

/** Returns the projects with the largest files of versions, the largest first. */
export async function listLargestProjects(db: Db): Promise<LargeProject[]> {
  const { rows } = await sql<LargeProject>`
    select version.project_id as id, sum(file.size_bytes)::bigint as bytes, count(*)::int as files
    from file join version on version.id = file.version_id
    group by 1 order by 2 desc, 1 limit ${LARGEST_SHOWN}`.execute(db)
  return rows
}

export type MeasuredDay = StorageRow & { day: string; details: StorageDetails | null }

/** Returns the measurements, oldest first. */
export async function listMeasures(db: Db): Promise<MeasuredDay[]> {
  const { rows } = await sql<MeasuredDay>`
    select *, to_char(day, 'YYYY-MM-DD') as day from storage_measure order by storage_measure.day`.execute(db)
  return rows
}

/** Returns the names of projects by ID. */
export async function listNames(db: Db, ids: readonly string[]): Promise<Map<string, { slug: string; name: string }>> {
  if (ids.length === 0) return new Map()
  const rows = await db.selectFrom('project').select(['id', 'slug', 'name']).where('id', 'in', ids).execute()
  return new Map(rows.map((row) => [row.id, row]))
}
