// Removes the demo and everything that its accounts created since. Content of other users stays, and so do projects and
// organizations in which other users take part. Each step is a transaction, and the next run completes an interrupted run.
import { sql } from 'kysely'
import { withDemoLock } from '#demo/lock.ts'
import { forgetOrLeave } from '#demo/remove/forget-events.ts'
import { removeOrganizations, removeProjects } from '#demo/remove/projects.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { deleteAccountOf } from '#features/community/personal-data/delete-account.ts'
import { getAccount } from '#features/people/users/queries.ts'
import { ApiError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db } from '#platform/db/db.ts'
import { removeJob } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'

export type RemovalReport = {
  projects: number
  organizations: number
  collections: number
  people: number
  /** Slugs of projects and organizations that stay, because other users take part in them. */
  kept: { projects: string[]; organizations: string[] }
  /** `isLeft`: a running server owns the analytics store and deletes the events. */
  events: { isLeft: boolean }
}

/** Number of projects or organizations per transaction. */
const BATCH = 50

type RemovalOptions = {
  /** Whether to report what would be removed, and to remove nothing. Default: false. */
  isDryRun?: boolean
  /** Receives the number of finished projects and accounts, and their total. */
  onProgress?: (done: number, total: number) => void
}

/**
 * Removes the demo. Jobs delete its files.
 * @throws ApiError `conflict` if the demo or its events are being written, or if one of its accounts is an admin.
 */
export function removeCatalogue(
  deps: Deps,
  { isDryRun = false, onProgress = () => {} }: RemovalOptions = {},
): Promise<RemovalReport> {
  return withDemoLock(deps, async () => {
    await requireNoAdmin(deps.db)
    if (!isDryRun) {
      await transaction(deps, (tx) => removeJob(tx, 'seed.store-events'))
      await sql`delete from report where id in (select id from demo_item where kind = 'report')`.execute(deps.db)
    }
    const going = await listGoing(deps.db)
    const total = going.projects.length + going.people.length
    const kept: RemovalReport['kept'] = { projects: [], organizations: [] }
    const removed: string[] = []
    for (let start = 0; start < going.projects.length; start += BATCH) {
      const batch = await removeProjects(deps, going.projects.slice(start, start + BATCH), isDryRun)
      kept.projects.push(...batch.kept)
      removed.push(...batch.goingIds)
      onProgress(Math.min(start + BATCH, going.projects.length), total)
    }
    for (let start = 0; start < going.organizations.length; start += BATCH)
      kept.organizations.push(
        ...(await removeOrganizations(deps, going.organizations.slice(start, start + BATCH), { removed, isDryRun })),
      )
    const counts = countRemoved(going, kept)
    if (isDryRun) return { ...counts, kept, events: { isLeft: false } }
    for (const [n, id] of going.people.entries()) {
      await deleteAccountOf(deps, await getAccount(deps.db, id))
      onProgress(going.projects.length + n + 1, total)
    }
    // Removed projects stay recorded until their events are deleted.
    await sql`delete from demo_item
      where kind <> 'project' or exists (select 1 from project where project.id = demo_item.id)`.execute(deps.db)
    const { projects, people } = counts
    if (projects + people > 0) {
      const details = { projects, people, kept: kept.projects.length }
      await recordAudit(deps.db, { action: 'demo.removed', actor: COMMAND, details })
    }
    return { ...counts, kept, events: { isLeft: await forgetOrLeave(deps) } }
  })
}

function countRemoved(going: Awaited<ReturnType<typeof listGoing>>, kept: RemovalReport['kept']) {
  return {
    projects: going.projects.length - kept.projects.length,
    organizations: going.organizations.length - kept.organizations.length,
    collections: going.collections,
    people: going.people.length,
  }
}

/** Checks before the removal that no admin would be deleted. */
async function requireNoAdmin(db: Db): Promise<void> {
  const { rows } = await sql<{ username: string }>`
    select username from account join demo_item on demo_item.kind = 'account' and demo_item.id = account.id
    where role = 'admin' order by 1 limit 1`.execute(db)
  const [admin] = rows
  if (admin === undefined) return
  throw new ApiError('conflict', `The demo account ${admin.username} is an admin. Change its role first.`)
}

/** Returns the items of the demo and the resources that its accounts own. */
async function listGoing(db: Db) {
  const ownedByDemo = sql`exists (select 1 from team_member where team_member.team_id = thing.team_id and is_owner
    and exists (select 1 from demo_item where demo_item.kind = 'account' and demo_item.id = account_id))`
  const made = (kind: 'project' | 'organization') =>
    sql`(exists (select 1 from demo_item where kind = ${kind} and demo_item.id = thing.id) or ${ownedByDemo})`
  const { rows } = await sql<{ projects: string[]; organizations: string[]; people: string[]; collections: number }>`
    with organizations as (select id from organization thing where ${made('organization')})
    select array(select id from organizations order by id) as organizations,
      array(select id from project thing where ${made('project')}
        or organization_id in (select id from organizations) order by id) as projects,
      array(select account.id from account join demo_item on demo_item.kind = 'account' and demo_item.id = account.id
        order by 1) as people,
      (select count(*)::int from collection join demo_item on demo_item.kind = 'account'
        and demo_item.id = collection.account_id) as collections`.execute(db)
  return rows[0] ?? { projects: [], organizations: [], people: [], collections: 0 }
}
