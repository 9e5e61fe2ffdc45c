// Checks counts that the database stores: followers, and the figures of the catalogue.
import { sql } from 'kysely'
import { foldStatistics, getStatistics } from '#features/basics/statistics/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { type DoctorDeps, error, type Finding, when } from './finding.ts'

/** Number of projects that one statement corrects. */
const BATCH = 500

const WRONG_FOLLOWERS = sql`
  select project.id, count(follow.account_id)::int as followers from project
  left join follow on follow.project_id = project.id
  group by project.id having count(follow.account_id) <> project.followers`

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

async function correctFollowers(deps: Pick<DoctorDeps, 'db' | 'cache'>): Promise<void> {
  for (let changedRows = BATCH; changedRows === BATCH; ) {
    changedRows = await transaction(deps, async (tx, changed) => {
      const { rows } = await sql<{ id: string }>`
        with wrong as (${WRONG_FOLLOWERS} limit ${BATCH}),
        locked as (select id from project where id in (select id from wrong) order by id for update)
        update project set followers = (select count(*) from follow where project_id = project.id)
        from locked where project.id = locked.id returning project.id`.execute(tx)
      for (const { id } of rows) changed.add('project', id)
      return rows.length
    })
  }
}

type Totals = { projects: number; versions: number; files: number; authors: number }

const KEYS = ['projects', 'versions', 'files', 'authors'] as const

/** Compares both in one snapshot, so that a server can change them meanwhile. */
function hasRightStatistics({ db }: Pick<DoctorDeps, 'db'>): Promise<boolean> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const stored = await getStatistics(tx)
      const { rows } = await sql<Totals>`select * from catalogue_recount()`.execute(tx)
      return KEYS.every((key) => Number(rows[0]?.[key]) === Number(stored[key]))
    })
}

/** Adds the difference, because counting goes on meanwhile. */
async function correctStatistics({ db }: Pick<DoctorDeps, 'db'>): Promise<void> {
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
