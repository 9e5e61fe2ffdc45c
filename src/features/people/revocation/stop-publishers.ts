// Stops trusted publishers, and notifies the members whose builds can no longer publish.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'

type Stopped = {
  id: string
  project_id: string | null
  organization_id: string | null
  repository: string
  members: string[]
}

/** Stops the publishers that match a condition over `publisher`. Another member can add them again. */
export async function stopPublishers(
  tx: Tx,
  changed: ChangeSet,
  which: RawBuilder<SqlBool>,
  now: number,
): Promise<void> {
  const { rows } = await sql<Stopped>`
    update trusted_publisher publisher set stopped = ${new Date(now)} where stopped is null and ${which}
    returning id, project_id, organization_id, repository, (
      select coalesce(json_agg(distinct account_id), '[]') from team_member where accepted and team_id in (
        select team_id from project where project.id = publisher.project_id
        union all select organization.team_id from project join organization on organization.id = project.organization_id
          where project.id = publisher.project_id
        union all select team_id from organization where organization.id = publisher.organization_id)) as members`.execute(
    tx,
  )
  for (const { id, members, repository, project_id, organization_id } of rows) {
    const subject =
      project_id === null
        ? ({ kind: 'organization', id: organization_id ?? '' } as const)
        : ({ kind: 'project', id: project_id } as const)
    const details = { publisher: id, repository }
    await recordAudit(tx, { action: 'trusted_publisher.stopped', actor: SYSTEM, subject, details })
    await insertNotifications(tx, changed, members, {
      type: 'publisher_stopped',
      project_id,
      organization_id,
      repository,
    })
  }
}
