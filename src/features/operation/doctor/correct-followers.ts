// Counts the followers of projects again.
import { sql } from 'kysely'
import { transaction } from '#platform/cache/transaction.ts'
import type { DoctorDeps } from './finding.ts'

/** Number of projects that one statement corrects. */
const BATCH = 500

/** Projects whose stored number differs from the rows, with the right number. */
export const WRONG_FOLLOWERS = sql`
  select project.id, count(follow.account_id)::int as followers from project
  left join follow on follow.project_id = project.id
  group by project.id having count(follow.account_id) <> project.followers`

/** Corrects the projects in batches, so that no transaction locks many of them. */
export async function correctFollowers(deps: Pick<DoctorDeps, 'db' | 'cache'>): Promise<void> {
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
