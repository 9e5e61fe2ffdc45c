// Decides who may download blocked contents.
import { isModerator, type Viewer } from '#features/basics/access/viewer.ts'
import { ApiError } from '#lib/errors.ts'

/** @throws ApiError 404 with an explanation if the content is blocked and the viewer is not a moderator */
export function requireDownloadable(viewer: Viewer | null, { is_blocked }: { is_blocked: boolean }): void {
  if (is_blocked && !isModerator(viewer))
    throw new ApiError('not_found', 'The moderators of this instance blocked this file')
}
