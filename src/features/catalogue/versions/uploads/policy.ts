// The scopes and the sizes that an upload needs.

import { hasScope } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { ApiError, forbidden } from '#lib/errors.ts'
import { describeBytes } from '#lib/text/sizes.ts'
import { FILE_BYTES_MAX } from '../publish/prepare-files.ts'

/** @throws ApiError 403 without one of the scopes. */
export function requireUploadScope(viewer: Viewer): void {
  if (hasScope(viewer.scopes, 'VERSION_CREATE') || hasScope(viewer.scopes, 'PROJECT_CREATE')) return
  throw forbidden('The token lacks the scope VERSION_CREATE or PROJECT_CREATE')
}

/** @throws ApiError 413. */
export function requireSize(bytes: number): void {
  if (bytes > FILE_BYTES_MAX) throw tooLarge(`An upload can have at most ${describeBytes(FILE_BYTES_MAX)}`)
}

export function tooLarge(message: string): ApiError {
  return new ApiError('content_too_large', message, { details: { field: 'upload-length', message } })
}
