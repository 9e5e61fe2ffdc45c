// The texts of notifications in emails. An email names what the recipient can see, because it is sent right after the event.
import { sql } from 'kysely'
import { listMemberIds } from '#features/basics/access/memberships.ts'
import { plainTextOf } from '#lib/markdown/plain-text.ts'
import type { Db } from '#platform/db/db.ts'
import { isPublicStatus, PUBLIC_STATUSES } from '#taxonomy/project-status.ts'
import { type NotificationBodies, type NotificationText, notificationText } from '../notification-types.ts'

type Body = { type: string } & Record<string, unknown>
type EmailText = Pick<NotificationText, 'name' | 'text' | 'link'>

/** The names of statuses on the site. */
export const STATUS_NAMES: Readonly<Record<string, string>> = {
  approved: 'Public',
  archived: 'Archived',
  draft: 'Draft',
  private: 'Private',
  processing: 'In review',
  rejected: 'Rejected',
  scheduled: 'Scheduled',
  unlisted: 'Unlisted',
  withheld: 'Withheld by a moderator',
}
/** The names of outcomes on the site. */
export const OUTCOME_NAMES = { action: 'Led to action', no_action: 'No action' } as const

/** Returns subject, text and link of the email. Messages of moderators are shown as text, with the URLs of their links. */
export async function emailText(db: Db, body: Body, accountId: string): Promise<EmailText> {
  const { message: markdown } = body
  const message = typeof markdown === 'string' ? plainTextOf(markdown, { withLinks: true }) : undefined
  const general = notificationText(message === undefined ? body : { ...body, message }, accountId)
  const { project_id: projectId } = body
  const project = typeof projectId === 'string' ? await findProjectName(db, projectId, accountId) : undefined
  const special = await specialText(db, body, project)
  const { name, text, link } = { ...general, ...special }
  if (special !== undefined) return { name, link, text: message === undefined ? text : `${text}\n\n${said(message)}` }
  return { name, link, text: project === undefined ? text : `${text}\n\nProject: ${project}` }
}

const said = (message: string): string => `The moderator wrote:\n\n${message}`

/** Returns the subject and the sentence of the emails about decisions. */
async function specialText(
  db: Db,
  body: Body,
  project: string | undefined,
): Promise<Pick<EmailText, 'name' | 'text'> | undefined> {
  if (body.type === 'project_status_approved') {
    const text = `A moderator has approved ${project ?? 'your project'}. It is now public.`
    return { name: `${project ?? 'Your project'} was approved`, text }
  }
  if (body.type === 'project_status_neutral')
    return textOfStatus(body as unknown as NotificationBodies['project_status_neutral'], project)
  return body.type === 'report_status_updated'
    ? textOfReport(db, body as unknown as NotificationBodies['report_status_updated'])
    : undefined
}

function textOfStatus(
  { old_status: from, new_status: to }: NotificationBodies['project_status_neutral'],
  project: string | undefined,
) {
  const [before, after] = [STATUS_NAMES[from] ?? from, STATUS_NAMES[to] ?? to]
  return {
    name:
      to === 'rejected' || to === 'withheld'
        ? `${project ?? 'Your project'} was ${to}`
        : `The status of ${project ?? 'your project'} has changed`,
    text: `A moderator changed the status of ${project ?? 'your project'} from "${before}" to "${after}".`,
  }
}

async function textOfReport(db: Db, { report_id, closed, outcome }: NotificationBodies['report_status_updated']) {
  // A notification of an earlier release has only the ID.
  if (closed === undefined) return undefined
  const item = await findReportedName(db, report_id)
  const subject = `Your report${item === undefined ? '' : ` about ${item}`} was ${closed ? 'closed' : 'reopened'}`
  const text = `A moderator ${closed ? 'closed' : 'reopened'} your report${item === undefined ? '' : ` about ${item}`}.`
  const result = typeof outcome === 'string' ? ` Outcome: ${OUTCOME_NAMES[outcome]}.` : ''
  return { name: subject, text: `${text}${result}` }
}

/** Returns the name of a project if everyone can see it or the account is a member of it. */
async function findProjectName(db: Db, id: string, accountId: string): Promise<string | undefined> {
  const project = await db
    .selectFrom('project')
    .select(['name', 'status', 'team_id', 'organization_id'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (project === undefined) return undefined
  const isShown = isPublicStatus(project.status) || (await listMemberIds(db, project)).includes(accountId)
  return isShown ? project.name : undefined
}

/** Returns the name of a reported item at the time of the report, because a moderator might have hidden the item. */
async function findReportedName(db: Db, reportId: string): Promise<string | undefined> {
  const { rows } = await sql<{ name: string | null }>`select case report.item_type
      when 'version' then concat_ws(' ', project.name, snapshot.state ->> 'number')
      else coalesce(snapshot.state ->> 'username', snapshot.state ->> 'name') end as name
    from report join report_snapshot snapshot on snapshot.report_id = report.id
      left join version on version.id = report.version_id
      left join project on project.id = version.project_id and project.status = any(${[...PUBLIC_STATUSES]}::text[])
    where report.id = ${reportId}`.execute(db)
  return rows[0]?.name ?? undefined
}
