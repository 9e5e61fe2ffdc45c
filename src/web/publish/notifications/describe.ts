// The sentence, the link and the answers of each notification. The texts of the API do not name projects, because the
// user may have lost access to them; the page names those that the user can see.

import { listVisibleProjects } from '#features/catalogue/projects/lookup/project-cache.ts'
import type { ProjectView } from '#features/catalogue/projects/views.ts'
import { listVisibleVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import { listCachedOrganizations } from '#features/community/organizations/organization-cache.ts'
import { listOwnMemberships } from '#features/community/teams/queries.ts'
import {
  type InvitationAnswer,
  type NotificationBodies,
  notificationText,
} from '#features/people/notifications/notification-types.ts'
import type { NotificationRow } from '#features/people/notifications/queries.ts'
import { listCachedUsers } from '#features/people/users/user-cache.ts'
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
  /** Message of a moderator as plain text. */
  quote?: string
  path?: string
  project?: ProjectView
  /** The project or organization, if the user can see it. */
  subject?: { name: string; icon_url: string | null }
  /** Team whose invitation the user can still answer. */
  invitingTeamId?: string
}

type Named = {
  projects: ReadonlyMap<string, ProjectView>
  organizations: ReadonlyMap<string, { name: string; slug: string; icon_url: string | null }>
  /** Version numbers that the viewer can see, by ID. */
  versions: ReadonlyMap<string, string>
  users: ReadonlyMap<string, string>
  memberships: ReadonlyMap<string, boolean>
}

/** Describes notifications, with at most nine statements for any number. */
export async function describeNotifications(
  request: OwnRequest,
  rows: readonly NotificationRow[],
): Promise<ShownNotification[]> {
  const { deps, viewer, page } = request
  const ids = (key: string): string[] => [
    ...new Set(rows.flatMap(({ body }) => (typeof body[key] === 'string' ? [body[key]] : []))),
  ]
  const [projectIds, organizationIds, versionIds] = [ids('project_id'), ids('organization_id'), ids('version_id')]
  const projects = projectIds.length === 0 ? [] : await listVisibleProjects(deps, viewer, projectIds)
  const organizations = organizationIds.length === 0 ? [] : await listCachedOrganizations(deps, organizationIds)
  const versions = versionIds.length === 0 ? [] : await listVisibleVersions(deps, viewer, versionIds)
  const inviters = ids('invited_by')
  const users = inviters.length === 0 ? [] : await listCachedUsers(deps, inviters)
  const named: Named = {
    projects: new Map(projects.map((project) => [project.id, viewOf(project)])),
    organizations: new Map(organizations.map((organization) => [organization.id, viewOf(organization)])),
    versions: new Map(versions.map((version) => [version.id, viewOf(version).version_number])),
    users: new Map(users.map((user) => [user.id, viewOf(user).username])),
    memberships: await listOwnMemberships(deps.db, viewer.id, ids('team_id')),
  }
  return rows.map((row) => describe(page, row, named))
}

/** Maximum length of a quoted message, in characters. */
const QUOTE_MAX = 300

function describe(
  page: PageContext,
  row: NotificationRow,
  { projects, organizations, ...named }: Named,
): ShownNotification {
  const { body } = row
  const project = projects.get(String(body['project_id']))
  const organization = organizations.get(String(body['organization_id']))
  const names = { project: project?.name, organization: organization?.name }
  const subject = project ?? organization
  const invitation = invitationOf(body, named.memberships)
  const path = pathOf(row, project, organization)
  return {
    id: row.id,
    created: row.created,
    isRead: row.read,
    text: textOf(page, row, {
      ...names,
      version: named.versions.get(String(body['version_id'])),
      inviter: named.users.get(String(body['invited_by'])),
      invitation,
    }),
    ...(typeof body['message'] === 'string' ? { quote: excerptOf(body['message'], QUOTE_MAX) } : {}),
    ...(path === undefined ? {} : { path }),
    ...(project === undefined ? {} : { project }),
    ...(subject === undefined ? {} : { subject }),
    ...(invitation === 'pending' ? { invitingTeamId: String(body['team_id']) } : {}),
  }
}

/** State of an invitation. `closed`: it was withdrawn, or answered before Depot stored the answers. */
type Invitation = InvitationAnswer | 'pending' | 'closed'

function invitationOf(body: NotificationRow['body'], memberships: Named['memberships']): Invitation | undefined {
  if (body.type !== 'team_invite' && body.type !== 'organization_invite') return undefined
  if (body['answer'] === 'accepted' || body['answer'] === 'declined') return body['answer']
  const isMember = memberships.get(String(body['team_id']))
  if (isMember === undefined) return 'closed'
  return isMember ? 'accepted' : 'pending'
}

type Names = Partial<Record<'project' | 'organization' | 'version' | 'inviter', string | undefined>> & {
  invitation: Invitation | undefined
}

function textOf(page: PageContext, { body, account_id }: NotificationRow, names: Names): Part {
  const { t, rich } = page.language
  const key = `notifications.type.${textKey(body, names)}`
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
    version: named(names.version) ?? '',
    person: named(names.inviter) ?? t('notifications.someone'),
    role: html`<bdi>${role}</bdi>`,
    repository: html`<bdi>${repository}</bdi>`,
    host: html`<bdi>${host}</bdi>`,
    before: statusName(page, 'project', old_status),
    after: statusName(page, 'project', new_status),
  })
}

/** Statuses of a project that a moderator has not approved. */
const UNAPPROVED: readonly unknown[] = ['draft', 'processing', 'rejected', 'withheld']

function textKey(body: NotificationRow['body'], { project, version, invitation }: Names): string {
  if (invitation !== undefined) return invitation === 'pending' ? body.type : `${body.type}_${invitation}`
  if (body.type === 'status_change' && project !== undefined) return statusKey(body)
  if (version !== undefined && project !== undefined && NAMING.includes(body.type)) return `${body.type}_named`
  if (body.type === 'moderator_message' && body['project_id'] === null) return 'report_message'
  return body.type === 'content_taken_down' ? `content_taken_down_${body['item']}` : body.type
}

/** Types that have another text with the number of the version. */
const NAMING: readonly string[] = ['project_update', 'version_quarantined', 'version_withdrawn']

function statusKey({ old_status: before, new_status: after }: NotificationRow['body']): string {
  if (after === 'rejected' || after === 'withheld') return `status_change_${after}`
  if (!UNAPPROVED.includes(before) || UNAPPROVED.includes(after)) return 'status_change'
  return after === 'approved' ? 'status_change_approved' : 'status_change_accepted'
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
