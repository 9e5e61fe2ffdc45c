// Counts the catalogue again.
import { sql } from 'kysely'
import { foldStatistics, getStatistics } from '#features/basics/statistics/queries.ts'
import type { DoctorDeps } from './finding.ts'

type Totals = { projects: number; versions: number; files: number; authors: number }

const KEYS = ['projects', 'versions', 'files', 'authors'] as const

/** Compares both in one snapshot, because a server can change them at the same time. */
export function hasRightStatistics({ db }: Pick<DoctorDeps, 'db'>): Promise<boolean> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const stored = await getStatistics(tx)
      const { rows } = await sql<Totals>`select * from catalogue_recount()`.execute(tx)
      return KEYS.every((key) => Number(rows[0]?.[key]) === Number(stored[key]))
    })
}

/** Adds the difference, because a server can add to the counts at the same time. */
export async function correctStatistics({ db }: Pick<DoctorDeps, 'db'>): Promise<void> {
  await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const stored = await getStatistics(tx)
      const { rows } = await sql<Totals>`select * from catalogue_recount()`.execute(tx)
      const difference = (key: (typeof KEYS)[number]): number => Number(rows[0]?.[key]) - Number(stored[key])
      const [projects, versions, files, authors] = KEYS.map(difference)
      await sql`insert into catalogue_change (projects, versions, files, authors)
        values (${projects}, ${versions}, ${files}, ${authors})`.execute(tx)
    })
  await foldStatistics(db)
}
