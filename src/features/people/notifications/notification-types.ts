// One row for each type of notification: its texts, whether lists show it and whether it is mailed. Texts name no project, because the reader may not be allowed to see it any
// more; clients look up what the body's IDs stand for.

/** `message` is what the moderator wrote with the change. */
type StatusChanged = { project_id: string; old_status: string; new_status: string; message?: string }

export type NotificationBodies = {
  project_update: { project_id: string; version_id: string }
  team_invite: { project_id: string; team_id: string; invited_by: string; role: string }
  organization_invite: { organization_id: string; team_id: string; invited_by: string; role: string }
  status_change: StatusChanged
  moderator_message: { thread_id: string; message_id: string; project_id: string | null; report_id: string | null }
  project_status_approved: { project_id: string }
  project_status_neutral: StatusChanged
  moderation_message_received: { project_id: string }
  version_quarantined: { project_id: string; version_id: string }
  report_submitted: { report_id: string }
  report_status_updated: { report_id: string }
  project_transferred: {
    project_id: string
    new_owner_user_id: string | null
    new_owner_organization_id: string | null
  }
}
export type NotificationType = keyof NotificationBodies

/** What is stored of a notification: its type, IDs, and what a moderator wrote. Never a secret, because everything stored can be read back. */
export type NotificationBody = {
  [Type in NotificationType]: { type: Type } & NotificationBodies[Type]
}[NotificationType]

/** Something the reader can do about it: a label, and the method and path below the version prefix that do it. */
export type NotificationAction = { name: string; action_route: [method: string, path: string] }

export type NotificationText = { name: string; text: string; link: string; actions: NotificationAction[] }

type TypeRow<Body> = {
  /** Whether the list of a user's notifications shows it. */
  site: boolean
  /** Whether it is mailed. */
  mail: boolean
  textOf(body: Body, accountId: string): Omit<NotificationText, 'actions'> & { actions?: NotificationAction[] }
}

const SITE = { site: true, mail: false } as const
const MAIL = { site: false, mail: true } as const

function textOfStatus({ project_id, old_status, new_status, message }: StatusChanged) {
  const sentence = `A moderator changed the status of your project from ${old_status} to ${new_status}.`
  return {
    name: 'The status of your project has changed',
    text: message === undefined ? sentence : `${sentence} They wrote: ${message}`,
    link: `/project/${project_id}`,
  }
}

const TYPES: { readonly [Type in NotificationType]: TypeRow<NotificationBodies[Type]> } = {
  project_update: {
    ...SITE,
    textOf: ({ project_id, version_id }) => ({
      name: 'A project you follow has a new version',
      text: 'A new version of a project you follow was published.',
      link: `/project/${project_id}/version/${version_id}`,
    }),
  },
  team_invite: {
    ...SITE,
    textOf: ({ project_id, team_id, role }, accountId) => ({
      name: 'You are invited to a team',
      text: `You are invited to join the team of a project as ${role}.`,
      link: `/project/${project_id}`,
      actions: invitationActions(team_id, accountId),
    }),
  },
  organization_invite: {
    ...SITE,
    textOf: ({ organization_id, team_id, role }, accountId) => ({
      name: 'You are invited to an organization',
      text: `You are invited to join an organization as ${role}.`,
      link: `/organization/${organization_id}`,
      actions: invitationActions(team_id, accountId),
    }),
  },
  status_change: {
    ...SITE,
    textOf: textOfStatus,
  },
  moderator_message: {
    ...SITE,
    textOf: ({ project_id, report_id }) => ({
      name: 'A moderator has written to you',
      text: project_id === null ? 'There is an answer to your report.' : 'There is a message about your project.',
      link: project_id === null ? pageOfReport(report_id) : `/project/${project_id}`,
    }),
  },
  project_status_approved: {
    ...MAIL,
    textOf: ({ project_id }) => ({
      name: 'Your project is approved',
      text: 'A moderator has approved your project. It is public now.',
      link: `/project/${project_id}`,
    }),
  },
  project_status_neutral: {
    ...MAIL,
    textOf: textOfStatus,
  },
  moderation_message_received: {
    ...MAIL,
    textOf: ({ project_id }) => ({
      name: 'A moderator has written to you',
      text: 'There is a message from a moderator about your project.',
      link: `/project/${project_id}`,
    }),
  },
  version_quarantined: {
    ...SITE,
    textOf: ({ project_id, version_id }) => ({
      name: 'A version of your project is held back',
      text: 'The scanner of uploaded files objects to a file of a version of your project. It stays hidden meanwhile.',
      link: `/project/${project_id}/version/${version_id}`,
    }),
  },
  report_submitted: {
    ...MAIL,
    textOf: ({ report_id }) => ({
      name: 'Your report has arrived',
      text: 'Thank you for your report. Moderators will look into it.',
      link: pageOfReport(report_id),
    }),
  },
  report_status_updated: {
    ...MAIL,
    textOf: ({ report_id }) => ({
      name: 'Your report was closed or reopened',
      text: 'The status of a report of yours has changed.',
      link: pageOfReport(report_id),
    }),
  },
  project_transferred: {
    ...MAIL,
    textOf: ({ project_id }) => ({
      name: 'A project is yours now',
      text: 'The ownership of a project was transferred to you.',
      link: `/project/${project_id}`,
    }),
  },
}

/** The types that the list of a user's notifications shows. */
export const SITE_TYPES: readonly string[] = Object.entries(TYPES).flatMap(([type, { site }]) => (site ? [type] : []))

export function isMailed(type: NotificationType): boolean {
  return TYPES[type].mail
}

/** The texts of a stored notification; an unknown type, of another release, gets a general text. */
export function notificationText(body: { type: string }, accountId: string): NotificationText {
  if (!isKnown(body))
    return { name: 'Notification', text: 'Something happened that concerns you.', link: '#', actions: [] }
  // Only `insertNotifications` and the followers' job write bodies, and both take this type.
  const row = TYPES[body.type] as TypeRow<NotificationBody>
  return { actions: [], ...row.textOf(body, accountId) }
}

function isKnown(body: { type: string }): body is NotificationBody {
  return Object.hasOwn(TYPES, body.type)
}

function invitationActions(teamId: string, accountId: string): NotificationAction[] {
  return [
    { name: 'Accept', action_route: ['POST', `team/${teamId}/join`] },
    { name: 'Deny', action_route: ['DELETE', `team/${teamId}/members/${accountId}`] },
  ]
}

function pageOfReport(reportId: string | null): string {
  return reportId === null ? '#' : `/report/${reportId}`
}
