// Response schemas of the record of a user.
import Type, { type Static } from 'typebox'
import { isSuspended } from '#features/basics/access/accounts.ts'
import type { FilesConfig } from '#features/basics/images/hosted-image.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { toPublicUserView, UserView } from '#features/people/users/views.ts'
import { NamedObject, Nullable, Timestamp, toView } from '#lib/schema/schema-parts.ts'
import type { NoteRow, UserRecord } from './queries.ts'

const COUNTS = {
  approved: Type.Integer({ description: 'Number of reviews that ended with an approval' }),
  rejected: Type.Integer({ description: 'Number of decisions that rejected or withheld a project' }),
  reports: Type.Integer({ description: 'Number of reports about the owner, their projects and versions' }),
}

export const OwnerRecordView = NamedObject('OwnerRecord', {
  ...COUNTS,
  created: Timestamp,
  downloads: Type.Integer({ description: 'Number of downloads of all their projects' }),
  suspended: Type.Boolean({ description: 'Whether the user is suspended' }),
  language: Nullable(
    Type.String({
      description: 'Language that the user, or the owner of the organization, reads; null if it is unknown',
    }),
  ),
})

const project = { project_id: Type.String(), project_slug: Type.String(), project_name: Type.String() }
const Moderator = Nullable(Type.String({ description: 'Username of the moderator' }))
const Outcome = Nullable(Type.Enum(['action', 'no_action'], { description: 'Whether the report led to action' }))

const ProjectEntry = Type.Object({ ...project, status: Type.String(), published: Timestamp })
const ReviewEntry = Type.Object({
  ...project,
  old_status: Type.String(),
  new_status: Type.String(),
  at: Timestamp,
  moderator: Moderator,
})
const ReportEntry = Type.Object({
  id: Type.String(),
  direction: Type.Enum(['by', 'about'], {
    description: '`by`: the user made the report. `about`: it is about the user, or about their project or version',
  }),
  report_type: Type.String(),
  item_type: Type.Enum(['project', 'version', 'user']),
  item_id: Type.String(),
  reporter: Type.String({ description: 'Username' }),
  created: Timestamp,
  closed: Type.Boolean(),
  outcome: Outcome,
})
const VersionEntry = Type.Object({
  ...project,
  version_id: Type.String(),
  version_number: Type.String(),
  reason: Nullable(Type.String({ description: 'Reason given by the scanner' })),
  requested: Timestamp,
  released: Type.Boolean({ description: 'Whether a moderator released the version' }),
})
const SuspensionEntry = Type.Object({
  at: Timestamp,
  action: Type.Enum(['account.suspended', 'account.unsuspended']),
  moderator: Moderator,
  reason: Nullable(Type.String()),
  until: Nullable(Type.String({ description: 'When the suspension was to expire' })),
})

export const UserRecordView = Type.Object(
  {
    user: UserView,
    email_verified: Type.Boolean(),
    has_totp: Type.Boolean({ description: 'Whether the user has two-factor authentication' }),
    suspended: Nullable(Type.Object({ since: Timestamp, until: Nullable(Timestamp), reason: Nullable(Type.String()) })),
    counts: Type.Object({
      ...COUNTS,
      projects: Type.Integer(),
      reports_action: Type.Integer({ description: 'Number of reports about the user that led to action' }),
      reports_by: Type.Integer({ description: 'Number of reports that the user made' }),
      reports_by_closed: Type.Integer({ description: 'Number of closed reports by the user' }),
      reports_by_action: Type.Integer({ description: 'Number of reports by the user that led to action' }),
    }),
    projects: Type.Array(ProjectEntry),
    reviews: Type.Array(ReviewEntry),
    reports: Type.Array(ReportEntry),
    versions: Type.Array(VersionEntry, { description: 'Versions that the scanner put into quarantine' }),
    suspensions: Type.Array(SuspensionEntry),
    timeline: Type.Array(
      Type.Object({
        at: Timestamp,
        kind: Type.Enum(['joined', 'project', 'review', 'report_by', 'report_about', 'quarantine', 'suspension']),
        id: Type.String({ description: 'ID of the project, report, version or user' }),
        text: Type.String({ description: 'Name of the project or version, reason of the report or suspension' }),
        to: Nullable(Type.String({ description: 'New status of a review, or the action of a suspension' })),
      }),
      { description: 'The entries of all lists, newest first' },
    ),
  },
  { title: 'UserRecord', description: 'Each list has at most 100 entries, newest first.' },
)
export type UserRecordView = Static<typeof UserRecordView>

export function toUserRecordView(
  account: AccountRow,
  record: UserRecord,
  { config, now }: { config: FilesConfig; now: () => number },
): UserRecordView {
  const { suspended_at, suspended_until: until, suspension_reason: reason } = account
  return {
    user: toPublicUserView(account, config),
    email_verified: account.email_verified,
    has_totp: account.totp_secret !== null,
    suspended:
      suspended_at !== null && isSuspended(account, now())
        ? { since: suspended_at.toISOString(), until: until?.toISOString() ?? null, reason }
        : null,
    counts: record.counts,
    projects: record.projects.map((row) => toView(ProjectEntry, row)),
    reviews: record.reviews.map((row) => toView(ReviewEntry, row)),
    reports: record.reports.map((row) => toView(ReportEntry, row as typeof row & Static<typeof ReportEntry>)),
    versions: record.versions.map((row) => toView(VersionEntry, row)),
    suspensions: record.suspensions.map((row) =>
      toView(SuspensionEntry, row as typeof row & Static<typeof SuspensionEntry>),
    ),
    timeline: timelineOf(account, record),
  }
}

/** Returns the entries of all lists of a record in one list, newest first. */
function timelineOf(account: AccountRow, record: UserRecord): UserRecordView['timeline'] {
  type Entry = Omit<UserRecordView['timeline'][number], 'at'> & { at: Date }
  const entries: Entry[] = [
    { at: account.created, kind: 'joined', id: account.id, text: account.username, to: null },
    ...record.projects.map(
      (row): Entry => ({ at: row.published, kind: 'project', id: row.project_id, text: row.project_name, to: null }),
    ),
    ...record.reviews.map(
      (row): Entry => ({ at: row.at, kind: 'review', id: row.project_id, text: row.project_name, to: row.new_status }),
    ),
    ...record.reports.map(
      (row): Entry => ({
        at: row.created,
        kind: row.direction === 'by' ? 'report_by' : 'report_about',
        id: row.id,
        text: row.report_type,
        to: row.outcome,
      }),
    ),
    ...record.versions.map(
      (row): Entry => ({
        at: row.requested,
        kind: 'quarantine',
        id: row.version_id,
        text: `${row.project_name} ${row.version_number}`,
        to: null,
      }),
    ),
    ...record.suspensions.map(
      (row): Entry => ({ at: row.at, kind: 'suspension', id: account.id, text: row.reason ?? '', to: row.action }),
    ),
  ]
  return entries
    .sort((a, b) => b.at.getTime() - a.at.getTime())
    .map((entry) => ({ ...entry, at: entry.at.toISOString() }))
}

export const NoteView = NamedObject('UserNote', {
  body: Type.String({ description: 'Markdown; empty if there is no note' }),
  revision: Type.Integer({ description: 'Revision for the next change; 0 if there has never been a note' }),
  author: Nullable(Type.String({ description: 'Username of the moderator who changed the note last' })),
  updated: Nullable(Timestamp),
})

export const toNoteView = (row: NoteRow): Static<typeof NoteView> => toView(NoteView, row)
