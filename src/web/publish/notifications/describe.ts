// The sentence, the link and the answers of each notification. The texts of the API do not name projects, because the
// user may have lost access to them; the page names those that the user can see.

import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listCachedOrganizations } from '#features/community/organizations/organization-cache.ts'
import { listInvitingTeamIds } from '#features/community/teams/queries.ts'
import { type NotificationBodies, notificationText } from '#features/people/notifications/notification-types.ts'
import type { NotificationRow } from '#features/people/notifications/queries.ts'
import { excerptOf } from '#lib/markdown/plain-text.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { organizationPath, PATHS, projectPath } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import { isMessageKey } from '#web/ui/languages.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { statusName } from '#web/ui/parts/status.ts'

export type ShownNotification = {
  id: string
  created: Date
  isRead: boolean
  text: Part
  /** Message of a moderator, as text. */
  quote?: string
  path?: string
  project?: ProjectView
  /** Team whose invitation the user can still answer. */
  invitingTeamId?: string
}

/** The message of a decision has at most 2,000 characters. */
const QUOTE_MAX = 2000

type Named = {
  projects: ReadonlyMap<string, ProjectView>
  organizations: ReadonlyMap<string, { name: string; slug: string }>
  inviting: ReadonlySet<string>
}

/** Describes notifications, with at most five statements for any number. */
export async function describeNotifications(
  request: OwnRequest,
  rows: readonly NotificationRow[],
): Promise<ShownNotification[]> {
  const { deps, viewer, page } = request
  const ids = (key: string): string[] => [
    ...new Set(rows.flatMap(({ body }) => (typeof body[key] === 'string' ? [body[key]] : []))),
  ]
  const [projectIds, organizationIds] = [ids('project_id'), ids('organization_id')]
  const projects = projectIds.length === 0 ? [] : await listVisibleProjects(deps, viewer, projectIds)
  const organizations = organizationIds.length === 0 ? [] : await listCachedOrganizations(deps, organizationIds)
  const named: Named = {
    projects: new Map(projects.map((project) => [project.id, viewOf(project)])),
    organizations: new Map(organizations.map((organization) => [organization.id, viewOf(organization)])),
    inviting: await listInvitingTeamIds(deps.db, viewer.id, ids('team_id')),
  }
  return rows.map((row) => describe(page, row, named))
}

function describe(
  page: PageContext,
  row: NotificationRow,
  { projects, organizations, inviting }: Named,
): ShownNotification {
  const { body } = row
  const project = projects.get(String(body['project_id']))
  const organization = organizations.get(String(body['organization_id']))
  const teamId = String(body['team_id'])
  const path = pathOf(row, project, organization)
  return {
    id: row.id,
    created: row.created,
    isRead: row.read,
    text: textOf(page, row, { project: project?.name, organization: organization?.name }),
    ...(typeof body['message'] === 'string' ? { quote: excerptOf(body['message'], QUOTE_MAX) } : {}),
    ...(path === undefined ? {} : { path }),
    ...(project === undefined ? {} : { project }),
    ...(inviting.has(teamId) ? { invitingTeamId: teamId } : {}),
  }
}

function textOf(
  page: PageContext,
  { body, account_id }: NotificationRow,
  names: { project: string | undefined; organization: string | undefined },
): Part {
  const { t, rich } = page.language
  const key = `notifications.type.${textKey(body)}`
  if (!isMessageKey(key)) return notificationText(body, account_id).text
  const {
    role = '',
    repository = '',
    host = '',
    old_status = '',
    new_status = '',
  } = body as Partial<
    NotificationBodies['team_invite'] &
      NotificationBodies['status_change'] &
      NotificationBodies['publisher_stopped'] &
      NotificationBodies['webhook_disabled']
  >
  return rich(key, {
    project: named(names.project) ?? t('notifications.a-project'),
    organization: named(names.organization) ?? t('notifications.an-organization'),
    role: html`<bdi>${role}</bdi>`,
    repository: html`<bdi>${repository}</bdi>`,
    host: html`<bdi>${host}</bdi>`,
    before: statusName(page, 'project', old_status),
    after: statusName(page, 'project', new_status),
  })
}

function textKey(body: NotificationRow['body']): string {
  if (body.type === 'moderator_message' && body['project_id'] === null) return 'report_message'
  return body.type === 'content_taken_down' ? `content_taken_down_${body['item']}` : body.type
}

const named = (name: string | undefined) => (name === undefined ? undefined : html`<bdi>${name}</bdi>`)

function pathOf(
  { body }: NotificationRow,
  project: ProjectView | undefined,
  organization: { slug: string } | undefined,
): string | undefined {
  if (typeof body['report_id'] === 'string') return `${PATHS.dashboard}/reports/${body['report_id']}`
  if (body.type === 'operator_question') return `/moderation/user/${body['user_id']}`
  if (body.type === 'webhook_disabled') return webhooksPath(body, project, organization)
  if (project === undefined) return organization === undefined ? undefined : organizationPath(organization.slug)
  const path = projectPath(project)
  if (typeof body['version_id'] === 'string') return `${path}/version/${body['version_id']}`
  if (body.type === 'publisher_added' || body.type === 'publisher_stopped') return `${path}/settings/publishing`
  return body.type === 'team_invite' ? path : `${path}/settings/review`
}

function webhooksPath(
  body: NotificationRow['body'],
  project: ProjectView | undefined,
  organization: { slug: string } | undefined,
): string {
  if (project !== undefined) return `${projectPath(project)}/settings/webhooks`
  if (organization !== undefined) return `${organizationPath(organization.slug)}/settings/webhooks`
  return body['is_of_instance'] === true ? '/operator/webhooks' : '/account/webhooks'
}
