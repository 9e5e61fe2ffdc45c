// Permissions for the attention list.
import type { Viewer } from '#features/basics/access/viewer.ts'
import { forbidden } from '#lib/errors.ts'

/** @throws ApiError 403 unless the list is the viewer's own */
export function requireOwnList(viewer: Viewer, accountId: string): void {
  if (viewer.id !== accountId) throw forbidden('You cannot read or change the attention list of another user')
}
