// Who sees a project's place in the moderation queue. The queue itself is for moderators, which its route declares.
import { isMember, type Membership } from '#features/basics/access/project-policy.ts'
import { isModerator, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** Members of the project and moderators. @throws ApiError 403 */
export function requireQueueReader(viewer: Viewer, membership: Membership): void {
  if (!isMember(membership) && !isModerator(viewer)) throw forbidden('You are no member of this project')
}
