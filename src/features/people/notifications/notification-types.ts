// The types of notifications with their texts. The texts do not name projects, because the reader might
// have lost access to them; clients look up the IDs of the body.

/** `message` is the moderator's explanation. */
type StatusChanged = { project_id: string; old_status: string; new_status: string; message?: string }

export type InvitationAnswer = 'accepted' | 'declined'

/** `answer` is added when the user answers. */
type Invitation = { team_id: string; invited_by: string; role: string; answer?: InvitationAnswer }

/** At least one ID is null. */
type PublisherOwner = { project_id: string | null; organization_id: string | null }

export type NotificationBodies = {
  project_update: { project_id: string; version_id: string }
  team_invite: { project_id: string } & Invitation
  organization_invite: { organization_id: string } & Invitation
  status_change: StatusChanged
  moderator_message: { thread_id: string; message_id: string; project_id: string | null; report_id: string | null }
  project_status_approved: { project_id: string; message?: string }
  project_status_neutral: StatusChanged
  moderation_message_received: { project_id: string }
  version_quarantined: { project_id: string; version_id: string }
  version_withdrawn: { project_id: string; version_id: string }
  dependency_broken: {
    project_id: string
    version_id: string
    dependency: { project_id: string; version_id: string | null }
    reason: string
  }
  publisher_added: PublisherOwner & { repository: string; user_id: string }
  publisher_stopped: PublisherOwner & { repository: string }
  webhook_disabled: PublisherOwner & {
    webhook_id: string
    host: string
    reason: 'failing' | 'gone' | 'secret_lost' | 'access_lost'
    is_of_instance: boolean
  }
  report_submitted: { report_id: string }
  /** Earlier releases stored only the ID. `message` goes to the reporter. */
  report_status_updated: {
    report_id: string
    closed?: boolean
    outcome?: 'action' | 'no_action' | null
    message?: string
  }
  content_taken_down: { item: 'collection' | 'user'; message?: string }
  operator_question: { user_id: string; message: string }
  project_transferred: {
    project_id: string
    new_owner_user_id: string | null
    new_owner_organization_id: string | null
  }
}
export type NotificationType = keyof NotificationBodies

/** The stored part of a notification. It never contains secrets, because the account's export contains it. */
export type NotificationBody = {
  [Type in NotificationType]: { type: Type } & NotificationBodies[Type]
}[NotificationType]

/** An action of the reader: its label, and the HTTP method and path (below the version prefix) of the request. */
export type NotificationAction = { name: string; action_route: [method: string, path: string] }

export type NotificationText = { name: string; text: string; link: string; actions: NotificationAction[] }

/**
 * Types that exist only as emails. For the first three, another notification of the same event is in the user's list;
 * the others confirm what the user sees on the page of the report or project.
 */
const ONLY_EMAILED: ReadonlySet<string> = new Set<NotificationType>([
  'project_status_approved',
  'project_status_neutral',
  'moderation_message_received',
  'report_submitted',
  'report_status_updated',
  'project_transferred',
])

type TextOf<Body> = (
  body: Body,
  accountId: string,
) => Omit<NotificationText, 'actions'> & { actions?: NotificationAction[] }

function textOfStatus({ project_id, old_status, new_status, message }: StatusChanged) {
  const sentence = `A moderator changed the status of your project from ${old_status} to ${new_status}.`
  return {
    name: 'The status of your project has changed',
    text: message === undefined ? sentence : `${sentence} They wrote: ${message}`,
    link: `/project/${project_id}`,
  }
}

const TEXTS: { readonly [Type in NotificationType]: TextOf<NotificationBodies[Type]> } = {
  project_update: ({ project_id, version_id }) => ({
    name: 'A project you follow has a new version',
    text: 'A new version of a project you follow was published.',
    link: `/project/${project_id}/version/${version_id}`,
  }),
  team_invite: ({ project_id, team_id, role }, accountId) => ({
    name: 'You were invited to a team',
    text: `You were invited to join the team of a project as ${role}.`,
    link: `/project/${project_id}`,
    actions: invitationActions(team_id, accountId),
  }),
  organization_invite: ({ organization_id, team_id, role }, accountId) => ({
    name: 'You were invited to an organization',
    text: `You were invited to join an organization as ${role}.`,
    link: `/organization/${organization_id}`,
    actions: invitationActions(team_id, accountId),
  }),
  status_change: textOfStatus,
  moderator_message: ({ project_id, report_id }) => ({
    name: 'A moderator has written to you',
    text: project_id === null ? 'A moderator answered your report.' : 'A moderator wrote a message about your project.',
    link: project_id === null ? pageOfReport(report_id) : `/project/${project_id}`,
  }),
  project_status_approved: ({ project_id }) => ({
    name: 'Your project was approved',
    text: 'A moderator has approved your project. It is now public.',
    link: `/project/${project_id}`,
  }),
  project_status_neutral: textOfStatus,
  moderation_message_received: ({ project_id }) => ({
    name: 'A moderator has written to you',
    text: 'A moderator wrote a message about your project.',
    link: `/project/${project_id}`,
  }),
  version_quarantined: ({ project_id, version_id }) => ({
    name: 'A version of your project is held back',
    text: 'The file scanner reported a file in a version of your project. The version is hidden until a moderator decides.',
    link: `/project/${project_id}/version/${version_id}`,
  }),
  version_withdrawn: ({ project_id, version_id }) => ({
    name: 'A version of your project was withdrawn',
    text: 'A member of your team or a moderator has withdrawn a version of your project. It can still be downloaded, but update checks skip it.',
    link: `/project/${project_id}/version/${version_id}`,
  }),
  dependency_broken: ({ project_id, version_id }) => ({
    name: 'A dependency of your project has broken',
    text: 'The newest version of your project requires a version or a project that was withdrawn, removed or hidden.',
    link: `/project/${project_id}/version/${version_id}`,
  }),
  publisher_added: ({ repository, ...owner }) => ({
    name: 'A trusted publisher was added',
    text: `Builds of the repository ${repository} can publish versions now. If nobody in your team did this, remove the trusted publisher.`,
    link: publisherPage(owner),
  }),
  publisher_stopped: ({ repository, ...owner }) => ({
    name: 'A trusted publisher has stopped',
    text: `Builds of the repository ${repository} cannot publish any more, because the member who added the trusted publisher has left. Another member can add it again.`,
    link: publisherPage(owner),
  }),
  webhook_disabled: ({ host, reason, ...owner }) => ({
    name: 'A webhook was switched off',
    text: `Depot sends nothing to your webhook at ${host} any more, because ${WEBHOOK_REASONS[reason]}.`,
    link: webhookPage(owner),
  }),
  report_submitted: ({ report_id }) => ({
    name: 'Your report was received',
    text: 'Thank you for your report. A moderator will review it.',
    link: pageOfReport(report_id),
  }),
  report_status_updated: ({ report_id }) => ({
    name: 'Your report was closed or reopened',
    text: 'A moderator changed the status of one of your reports.',
    link: pageOfReport(report_id),
  }),
  content_taken_down: ({ item, message }) => {
    const sentence =
      item === 'user'
        ? 'A moderator removed the text of your profile.'
        : 'A moderator hid one of your collections from other users.'
    const text = message === undefined ? sentence : `${sentence} They wrote: ${message}`
    return { name: 'A moderator has taken content down', text, link: '#' }
  },
  operator_question: ({ user_id, message }) => ({
    name: 'A moderator asks you to decide about a user',
    text: `Only an operator can make this decision. The moderator wrote: ${message}`,
    link: `/moderation/user/${user_id}`,
  }),
  project_transferred: ({ project_id }) => ({
    name: 'You are now the owner of a project',
    text: 'The ownership of a project was transferred to you.',
    link: `/project/${project_id}`,
  }),
}

/** Types that a user's list of notifications contains. */
export const SITE_TYPES: readonly string[] = Object.keys(TEXTS).filter((type) => !ONLY_EMAILED.has(type))

/** Returns the texts of a notification. A type that another release has stored gets a general text. */
export function notificationText(body: { type: string }, accountId: string): NotificationText {
  if (!Object.hasOwn(TEXTS, body.type))
    return { name: 'Notification', text: 'You have a notification.', link: '#', actions: [] }
  // Only `insertNotifications` and the followers' job write bodies, and both accept only this type.
  const known = body as NotificationBody
  const textOf = TEXTS[known.type] as TextOf<NotificationBody>
  return { actions: [], ...textOf(known, accountId) }
}

function invitationActions(teamId: string, accountId: string): NotificationAction[] {
  return [
    { name: 'Accept', action_route: ['POST', `team/${teamId}/join`] },
    { name: 'Deny', action_route: ['DELETE', `team/${teamId}/members/${accountId}`] },
  ]
}

function publisherPage({ project_id, organization_id }: PublisherOwner): string {
  return project_id === null ? `/organization/${organization_id}` : `/project/${project_id}`
}

const WEBHOOK_REASONS = {
  failing: 'all deliveries of a week have failed',
  gone: 'the receiver does not exist any more',
  secret_lost: 'its secret was lost when the instance was restored; renew the secret',
  access_lost:
    'the user who created it lost access. They know its address and its secret: check the address and renew the secret before you switch it on again',
} as const

function webhookPage({ project_id, organization_id, is_of_instance }: PublisherOwner & { is_of_instance: boolean }) {
  if (project_id !== null) return `/project/${project_id}/settings/webhooks`
  if (organization_id !== null) return `/organization/${organization_id}/settings/webhooks`
  return is_of_instance ? '/operator/webhooks' : '/account/webhooks'
}

function pageOfReport(reportId: string | null): string {
  return reportId === null ? '#' : `/dashboard/reports/${reportId}`
}
