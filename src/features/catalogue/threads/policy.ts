// Decides who can read a thread and its messages, and who can write in it.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { isMember, type Membership } from '#features/basics/access/project-policy.ts'
import { isModerator, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden, invalidInput } from '#lib/errors.ts'

/** The facts that decide who can read a thread. `project_id` is null if the project was deleted. */
export type ThreadFacts = { id: string; type: string; project_id: string | null; reporter_id: string | null }

/** Returns whether the viewer can read every thread. */
export function canReadAllThreads(viewer: Viewer): boolean {
  return isModerator(viewer)
}

/** Moderators can read every thread, accepted members that of their project, reporters that of their report. */
export function canReadThread(viewer: Viewer, thread: ThreadFacts, membership: Membership): boolean {
  if (canReadAllThreads(viewer)) return true
  if (thread.type === 'project') return thread.project_id !== null && isMember(membership)
  return thread.type === 'report' && thread.reporter_id === viewer.id
}

/** SQL condition: only moderators can see private messages. */
export function messageVisibleTo(viewer: Viewer): RawBuilder<SqlBool> {
  return isModerator(viewer)
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(thread_message.body ->> 'private') is distinct from 'true'`
}

/** Only moderators see who wrote a moderator's message, so that users do not blame a person for decisions of the team. */
export function canSeeAuthor(viewer: Viewer, message: { hide_identity: boolean }): boolean {
  return !message.hide_identity || isModerator(viewer)
}

/** Returns whether the viewer writes for the moderators: anonymously, without size limit, and with notifications. */
export function writesAsModerator(viewer: Viewer): boolean {
  return isModerator(viewer)
}

/** @throws ApiError 403 unless the viewer may write private messages. */
export function requirePrivateWriter(viewer: Viewer): void {
  if (!isModerator(viewer)) throw forbidden('Only moderators can write private messages')
}

/** @throws ApiError `invalid_input` if the report is closed, unless the viewer is a moderator. */
export function requireOpenReport(viewer: Viewer, report: { closed: boolean }): void {
  if (report.closed && !isModerator(viewer)) throw invalidInput('This report is closed')
}

/** @throws ApiError 403 unless the viewer is the author or a moderator. */
export function requireMessageEditor(viewer: Viewer, message: { author_id: string | null }): void {
  if (message.author_id === viewer.id || isModerator(viewer)) return
  throw forbidden('Only the author and moderators can change this message')
}
