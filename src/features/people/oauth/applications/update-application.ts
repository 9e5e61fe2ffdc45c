// Edits and deletes applications, and replaces their secrets.

import { toScopeBits } from '#features/basics/access/scope-field.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import { newSecret } from '#lib/access/tokens.ts'
import { invalidInput } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { requireCredentialsEditable, requireEditable, requireSecretOwner } from './policy.ts'
import { deleteTokens, insertRedirectUris, lockApplication } from './queries.ts'
import { type ApplicationPatch, toApplicationColumns } from './requests.ts'

/**
 * Edits an application. A change of its scopes or the removal of a redirect URI deletes pending consent requests and
 * unused codes; tokens retain the scopes that users granted.
 * @throws ApiError 404, 403, `validation_error` naming the field.
 */
export async function updateApplication(
  deps: Pick<Deps, 'db' | 'cache' | 'log' | 'metrics'>,
  viewer: Viewer,
  { id, patch }: { id: string; patch: ApplicationPatch },
): Promise<void> {
  const { max_scopes, redirect_uris } = patch
  const changesCredentials = max_scopes !== undefined || redirect_uris !== undefined
  const accountId = await transaction(deps, async (tx) => {
    const before = requireEditable(viewer, await lockApplication(tx, id))
    if (changesCredentials) requireCredentialsEditable(viewer, before)
    const values = toApplicationColumns(patch)
    const fields = Object.entries(patch).flatMap(([field, value]) => (value === undefined ? [] : [field]))
    await recordAudit(tx, {
      action: 'oauth.application_changed',
      actor: actorOf(viewer),
      subject: { kind: 'oauth_application', id },
      accountIds: [before.account_id],
      details: { fields },
    })
    if (Object.keys(values).length > 0) await tx.updateTable('oauth_client').set(values).where('id', '=', id).execute()
    const removesUri = redirect_uris !== undefined && (await replaceRedirectUris(tx, id, redirect_uris))
    // The form of the site sends the scopes with every change.
    const hasSameScopes = max_scopes === undefined || toScopeBits(max_scopes, 'max_scopes') === before.max_scopes
    if (hasSameScopes && !removesUri) return before.account_id
    await tx.deleteFrom('oauth_flow').where('client_id', '=', id).execute()
    await tx.deleteFrom('oauth_code').where('client_id', '=', id).execute()
    return before.account_id
  })
  if (changesCredentials && accountId !== viewer.id)
    recordEvent(deps, 'oauth.application_changed_by_admin', { application_id: id, admin_id: viewer.id })
}

/** Replaces the redirect URIs; returns whether it removed one. */
async function replaceRedirectUris(tx: Tx, id: string, uris: readonly string[]): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('oauth_redirect_uri')
    .where('client_id', '=', id)
    .where('uri', 'not in', uris)
    .executeTakeFirstOrThrow()
  await insertRedirectUris(tx, id, uris)
  return numDeletedRows > 0n
}

/**
 * Replaces the secret of an application and returns the new secret.
 * @throws ApiError 404, 403 unless the viewer is the owner, `invalid_input` for a public client.
 */
export async function rotateSecret(deps: Pick<Deps, 'db' | 'cache'>, viewer: Viewer, id: string): Promise<string> {
  const { secret, hash } = newSecret()
  await transaction(deps, async (tx) => {
    const { secret_hash } = requireSecretOwner(viewer, await lockApplication(tx, id))
    if (secret_hash === null) throw invalidInput('A public client has no secret')
    await tx.updateTable('oauth_client').set({ secret_hash: hash }).where('id', '=', id).execute()
    const subject = { kind: 'oauth_application', id } as const
    await recordAudit(tx, { action: 'oauth.secret_rotated', actor: actorOf(viewer), subject })
  })
  return secret
}

/** Deletes an application with its authorizations, and revokes its tokens immediately. @throws ApiError 404, 403. */
export async function deleteApplication(
  deps: Pick<Deps, 'db' | 'cache' | 'config'>,
  viewer: Viewer,
  id: string,
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const { account_id, icon_url, raw_icon_url } = requireEditable(viewer, await lockApplication(tx, id))
    await deleteTokens(tx, changed, { column: 'client_id', value: id })
    await tx.deleteFrom('oauth_client').where('id', '=', id).execute()
    await removeImages(tx, [icon_url, raw_icon_url])
    await recordAudit(tx, {
      action: 'oauth.application_deleted',
      actor: actorOf(viewer),
      subject: { kind: 'oauth_application', id },
      accountIds: [account_id],
    })
  })
}
