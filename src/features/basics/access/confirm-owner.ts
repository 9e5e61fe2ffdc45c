// The type of the check before sensitive changes of an account. The accounts feature implements it.
import type { Viewer } from '#features/basics/access/viewer.ts'

/** `passkey`: the response of an authenticator as JSON, in place of the password and the code. */
export type OwnerProof = { password?: string | undefined; code?: string | undefined; passkey?: string | undefined }

/**
 * Confirms that the request comes from the owner of the viewer's account: by its password and two-factor code (without a
 * password, by the code), by a passkey, or because the session confirmed them within the last 10 minutes. A successful check confirms the session.
 * @throws ApiError 401 with `details.field` `password` or `code` if one is missing, `invalid_credentials` if one is
 * wrong, `ratelimit_error` after 10 wrong attempts.
 */
export type ConfirmOwner = (viewer: Viewer, proof: OwnerProof) => Promise<void>
