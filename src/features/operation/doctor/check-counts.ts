// Checks counts that the database stores: followers, and the figures of the catalogue.
import { sql } from 'kysely'
import { correctFollowers, WRONG_FOLLOWERS } from './correct-followers.ts'
import { correctStatistics, hasRightStatistics } from './correct-statistics.ts'
import { type DoctorDeps, error, type Finding, when } from './finding.ts'

export async function checkCounts(deps: DoctorDeps): Promise<Finding[]> {
  const { db } = deps
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from (${WRONG_FOLLOWERS}) wrong`.execute(
    db,
  )
  const wrong = rows[0]?.count ?? 0
  return [
    ...when(
      wrong > 0,
      error(
        'followers_wrong',
        `The number of followers of ${wrong} ${wrong === 1 ? 'project is' : 'projects are'} wrong; count again with \`depot doctor --fix\`.`,
        () => correctFollowers(deps),
      ),
    ),
    ...when(
      !(await hasRightStatistics(deps)),
      error(
        'statistics_wrong',
        'The number of projects, versions, files or authors is wrong; count again with `depot doctor --fix`.',
        () => correctStatistics(deps),
      ),
    ),
  ]
}
