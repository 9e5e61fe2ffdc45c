// Who reads and writes a thread, and what of it.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { isMember, type Membership } from '#features/basics/access/project-policy.ts'
import { isModerator, type Viewer } from '#lib/access/viewer.ts'
import { forbidden, invalidInput } from '#lib/errors.ts'

/** What of a thread decides who reads it. Threads of deleted projects have lost their project. */
export type ThreadFacts = { id: string; type: string; project_id: string | null; reporter_id: string | null }

/** Whether the viewer reads every thread, whatever project they belong to. */
export function canReadAllThreads(viewer: Viewer): boolean {
  return isModerator(viewer)
}

/** Moderators read every thread, accepted members that of their project, a reporter that of their report. */
export function canReadThread(viewer: Viewer, thread: ThreadFacts, membership: Membership): boolean {
  if (canReadAllThreads(viewer)) return true
  if (thread.type === 'project') return thread.project_id !== null && isMember(membership)
  return thread.type === 'report' && thread.reporter_id === viewer.id
}

/** In SQL: private messages are for moderators, the others for everybody who reads the thread. */
export function messageVisibleTo(viewer: Viewer): RawBuilder<SqlBool> {
  return isModerator(viewer)
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(thread_message.body ->> 'private') is distinct from 'true'`
}

/** Messages of moderators are anonymous to everybody else, so that nobody blames one person for the team's decisions. */
export function canSeeAuthor(viewer: Viewer, message: { hide_identity: boolean }): boolean {
  return !message.hide_identity || isModerator(viewer)
}

/**
 * Whether the viewer writes on behalf of the moderation team: without a name, in a full thread too, and with
 * notifications to the other side.
 */
export function writesAsModerator(viewer: Viewer): boolean {
  return isModerator(viewer)
}

/** @throws ApiError 403 unless the viewer may write messages that only moderators read. */
export function requirePrivateWriter(viewer: Viewer): void {
  if (!isModerator(viewer)) throw forbidden('Only moderators may write private messages')
}

/** A closed report is final for its reporter until a moderator reopens it. @throws ApiError `invalid_input` */
export function requireOpenReport(viewer: Viewer, report: { closed: boolean }): void {
  if (report.closed && !isModerator(viewer)) throw invalidInput('This report is closed')
}

/** Authors and moderators change a message. @throws ApiError 403 */
export function requireMessageEditor(viewer: Viewer, message: { author_id: string | null }): void {
  if (message.author_id === viewer.id || isModerator(viewer)) return
  throw forbidden('Only its author or a moderator may change this message')
}
