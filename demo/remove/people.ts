// Removes the accounts of the demo: unused accounts in bulk, and accounts that were used one by one, like those of users.
import { sql } from 'kysely'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import { deleteAccountOf } from '#features/operations/personal-data/delete-account.ts'
import { getAccount } from '#features/people/users/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

/** Removes accounts with their collections, follows and memberships. */
export async function removePeople(deps: Deps, ids: readonly string[]): Promise<void> {
  const used = await removeUnused(deps, ids)
  for (const id of used) {
    await deleteAccountOf(deps, await getAccount(deps.db, id), COMMAND)
    await sql`delete from demo_item where kind = 'account' and id = ${id}`.execute(deps.db)
  }
}

/** Returns the accounts that were used and still exist. */
function removeUnused(deps: Pick<Deps, 'db' | 'cache' | 'config'>, all: readonly string[]): Promise<string[]> {
  return transaction(deps, async (tx, changed) => {
    await lockSurroundings(tx, all)
    const used = await listUsed(tx, all)
    const ids = all.filter((id) => !used.includes(id))
    const { rows: followed } = await sql<{ id: string }>`
      with gone as (delete from follow where account_id = any(${ids}::text[]) returning project_id),
        counted as (select project_id, count(*) as n from gone group by project_id)
      update project set followers = followers - counted.n from counted where project.id = counted.project_id
      returning project.id`.execute(tx)
    const { rows: memberships } = await sql<{ team_id: string }>`
      delete from team_member where account_id = any(${ids}::text[]) returning team_id`.execute(tx)
    const { rows: pictures } = await sql<{ url: string | null }>`
      select unnest(array[avatar_url, raw_avatar_url]) as url from account where id = any(${ids}::text[])
      union select unnest(array[icon_url, raw_icon_url]) from collection where account_id = any(${ids}::text[])`.execute(
      tx,
    )
    await removeImages(
      tx,
      deps.config,
      pictures.map(({ url }) => url),
    )
    await sql`delete from account where id = any(${ids}::text[])`.execute(tx)
    // The count of authors keeps rows with 0.
    await sql`delete from author where account_id = any(${ids}::text[]) and teams = 0`.execute(tx)
    await sql`delete from demo_item where kind = 'account' and id = any(${ids}::text[])`.execute(tx)
    changed.addEach(
      'project',
      followed.map(({ id }) => id),
    )
    changed.addEach(
      'team',
      memberships.map(({ team_id }) => team_id),
    )
    changed.addEach('user', ids)
    changed.addEach('viewer', ids)
    return used
  })
}

/** Locks in the order of other transactions: projects with their follows, teams, accounts. */
async function lockSurroundings(tx: Tx, ids: readonly string[]): Promise<void> {
  await sql`select 1 from follow where account_id = any(${ids}::text[]) order by project_id, account_id for update`.execute(
    tx,
  )
  await sql`select 1 from project where id in (select project_id from follow where account_id = any(${ids}::text[]))
    order by id for no key update`.execute(tx)
  await sql`select 1 from team_member where account_id = any(${ids}::text[]) order by team_id, account_id for update`.execute(
    tx,
  )
  await sql`select 1 from account where id = any(${ids}::text[]) order by id for update`.execute(tx)
}

/** An account that signed in, or that an operator changed, has an entry in the audit log. */
async function listUsed(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from account where id = any(${ids}::text[]) and (
      exists (select 1 from audit_entry where account_ids @> array[account.id])
      or exists (select 1 from session where account_id = account.id)
      or exists (select 1 from personal_access_token where account_id = account.id)
      or exists (select 1 from oauth_authorization where account_id = account.id)
      or exists (select 1 from oauth_client where account_id = account.id)
      or exists (select 1 from version where author_id = account.id)
      or exists (select 1 from team_member where account_id = account.id and is_owner)
      or exists (select 1 from report where reporter_id = account.id or report.account_id = account.id)
      or exists (select 1 from thread_message where author_id = account.id)
      or exists (select 1 from image where owner_id = account.id)
      or exists (select 1 from affiliate_code where account_id = account.id)
      or exists (select 1 from revenue_share where account_id = account.id)
      or exists (select 1 from payout where account_id = account.id))
    order by id`.execute(tx)
  return rows.map(({ id }) => id)
}
