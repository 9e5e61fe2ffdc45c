// Permissions for the second step of a takedown.
import { isAdmin, type Viewer } from '#lib/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** @throws ApiError 403 unless the viewer is an operator */
export function requireDeleter(viewer: Viewer): void {
  if (!isAdmin(viewer)) throw forbidden('Only operators can delete content that was taken down')
}
