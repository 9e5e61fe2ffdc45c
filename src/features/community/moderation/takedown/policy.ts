// Permissions for the steps after a takedown.
import { isAdmin, type Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'
import { UNDO_MS } from './requests.ts'

/** @throws ApiError 403 unless the viewer is an operator */
export function requireDeleter(viewer: Viewer): void {
  if (!isAdmin(viewer)) throw forbidden('Only operators can delete content that was taken down')
}

/** @throws ApiError 403 unless the viewer is an operator */
export function requireUnblocker(viewer: Viewer): void {
  if (!isAdmin(viewer)) throw forbidden('Only operators can lift the block of a file')
}

/** Returns whether the viewer can undo a takedown: moderators for an hour, operators always. */
export function mayUndo(viewer: Viewer, takedown: { created: Date }, now: number): boolean {
  return isAdmin(viewer) || takedown.created.getTime() + UNDO_MS > now
}

/** @throws ApiError 403 if the hour has passed and the viewer is not an operator */
export function requireUndoer(viewer: Viewer, takedown: { created: Date }, now: number): void {
  if (!mayUndo(viewer, takedown, now)) throw forbidden('After an hour, only operators can undo a takedown')
}
