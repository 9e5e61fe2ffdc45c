// Notices publishers whose account left, and deletes what has expired.
import { sql } from 'kysely'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { CREATOR_IS_MEMBER } from '#platform/db/publishers.ts'
import type { Deps } from '#ports/deps.ts'
import { subjectOf } from './publisher-owner.ts'
import type { PublisherOwner } from './queries.ts'

const BATCH = 100

type Stopped = PublisherOwner & { id: string; repository: string; members: string[] }

export const publisherJobs = ({ db, now }: Pick<Deps, 'db' | 'now'>) => ({
  /**
   * Marks publishers whose account is not a member any more, and notifies the members. They stopped working with the
   * departure itself, because each use of their tokens checks the membership.
   */
  'publishers.check': async (): Promise<void> => {
    await db.transaction().execute(async (tx) => {
      const { rows } = await sql<Stopped>`
        update trusted_publisher publisher set stopped = ${new Date(now())}
        where publisher.id in (
          select id from trusted_publisher publisher where stopped is null and not ${CREATOR_IS_MEMBER}
          order by id limit ${BATCH} for update skip locked)
        returning id, project_id, organization_id, repository, (
          select coalesce(json_agg(distinct account_id), '[]') from team_member where accepted and team_id in (
            select team_id from project where project.id = publisher.project_id
            union all select organization.team_id from project join organization on organization.id = project.organization_id
              where project.id = publisher.project_id
            union all select team_id from organization where organization.id = publisher.organization_id)) as members`.execute(
        tx,
      )
      for (const { id, members, repository, ...owner } of rows) {
        const subject = subjectOf(owner)
        await recordAudit(tx, {
          action: 'trusted_publisher.stopped',
          actor: SYSTEM,
          subject,
          details: { publisher: id, repository },
        })
        await insertNotifications(tx, members, { type: 'publisher_stopped', ...owner, repository })
      }
    })
  },
  'publishers.expire': async (): Promise<void> => {
    const at = new Date(now())
    await db.deleteFrom('used_ci_token').where('expires', '<=', at).execute()
    await db.deleteFrom('publisher_token').where('expires', '<=', at).execute()
  },
})
