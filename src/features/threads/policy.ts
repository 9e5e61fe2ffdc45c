// Who reads a thread, and what of it: pure rules (decisions.md 4 and 9; facts/people.md 2.5).

import { isMember, type Membership } from '#features/access/project-policy.ts'
import { isModerator, type Viewer } from '#lib/viewer.ts'

/** What of a thread decides who reads it. Threads of deleted projects have lost their project. */
export type ThreadFacts = { id: string; type: string; project_id: string | null; reporter_id: string | null }

/** Moderators every thread, accepted members that of their project, a reporter that of his report. */
export function canReadThread(viewer: Viewer, thread: ThreadFacts, membership: Membership): boolean {
  if (isModerator(viewer)) return true
  if (thread.type === 'project') return thread.project_id !== null && isMember(membership)
  return thread.type === 'report' && thread.reporter_id === viewer.id
}

/** What moderators write carries no name for others, so that nobody is taken to account for the team's decisions. */
export function canSeeAuthor(viewer: Viewer, message: { hide_identity: boolean }): boolean {
  return !message.hide_identity || isModerator(viewer)
}
