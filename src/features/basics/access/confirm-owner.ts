// What moves ownership of an account is asked of its owner again. The accounts feature knows how; the others ask it.
import type { Viewer } from '#lib/access/viewer.ts'

export type OwnerProof = { password?: string | undefined; code?: string | undefined }

/**
 * Makes sure that the owner of the viewer's account asks: by its password (and second factor), or because their session
 * gave it within the last ten minutes. A session that gives it now counts as confirmed from here on.
 * @throws ApiError 401 with `details.field` `password` or `code` when it is missing, `invalid_credentials` when it is
 * wrong, `ratelimit_error` after ten wrong ones.
 */
export type ConfirmOwner = (viewer: Viewer, proof: OwnerProof) => Promise<void>
