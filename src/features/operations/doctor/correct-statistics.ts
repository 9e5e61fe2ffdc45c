// Counts the catalogue again.
import { sql } from 'kysely'
import { foldStatistics, getStatistics } from '#features/basics/statistics/queries.ts'
import type { Tx } from '#platform/db/db.ts'
import type { DoctorDeps } from './finding.ts'

type Totals = { projects: number; versions: number; files: number; authors: number }

const KEYS = ['projects', 'versions', 'files', 'authors'] as const

/** Runs `act` with the differences of the counts in one snapshot, because a server can change them at the same time. */
function withDifferences<T>(
  { db }: Pick<DoctorDeps, 'db'>,
  act: (tx: Tx, differences: number[]) => Promise<T>,
): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const stored = await getStatistics(tx)
      const { rows } = await sql<Totals>`select * from catalogue_recount()`.execute(tx)
      const differences = KEYS.map((key) => Number(rows[0]?.[key]) - Number(stored[key]))
      return act(tx, differences)
    })
}

export function hasRightStatistics(deps: Pick<DoctorDeps, 'db'>): Promise<boolean> {
  return withDifferences(deps, async (_tx, differences) => differences.every((difference) => difference === 0))
}

/** Adds the differences, because a server can add to the counts at the same time. */
export async function correctStatistics(deps: Pick<DoctorDeps, 'db'>): Promise<void> {
  await withDifferences(deps, async (tx, differences) => {
    await sql`insert into catalogue_change (projects, versions, files, authors)
      values (${sql.join(differences)})`.execute(tx)
  })
  await foldStatistics(deps.db)
}
