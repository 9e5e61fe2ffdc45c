// Counts the catalogue again.
import { sql } from 'kysely'
import { foldStatistics, getStatistics } from '#features/basics/statistics/queries.ts'
import type { Tx } from '#platform/db/db.ts'
import type { DoctorDeps } from './finding.ts'

type Totals = { projects: number; versions: number; files: number; authors: number }

const KEYS = ['projects', 'versions', 'files', 'authors'] as const

/** Reads both in one snapshot, because a server can change them at the same time. */
const inSnapshot = ({ db }: Pick<DoctorDeps, 'db'>) => db.transaction().setIsolationLevel('repeatable read')

/** Returns how much each count must grow. */
async function listDifferences(tx: Tx): Promise<number[]> {
  const stored = await getStatistics(tx)
  const { rows } = await sql<Totals>`select * from catalogue_recount()`.execute(tx)
  return KEYS.map((key) => Number(rows[0]?.[key]) - Number(stored[key]))
}

export async function hasRightStatistics(deps: Pick<DoctorDeps, 'db'>): Promise<boolean> {
  const differences = await inSnapshot(deps).execute(listDifferences)
  return differences.every((difference) => difference === 0)
}

/** Adds the differences, because a server can add to the counts at the same time. */
export async function correctStatistics(deps: Pick<DoctorDeps, 'db'>): Promise<void> {
  await inSnapshot(deps).execute(async (tx) => {
    await sql`insert into catalogue_change (projects, versions, files, authors)
      values (${sql.join(await listDifferences(tx))})`.execute(tx)
  })
  await foldStatistics(deps.db)
}
