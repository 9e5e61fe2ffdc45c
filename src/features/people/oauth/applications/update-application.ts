import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { toScopeBits } from '#lib/access/scope-field.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { requireCredentialsEditable, requireEditable } from './policy.ts'
import { insertRedirectUris, lockApplication } from './queries.ts'
import { type ApplicationPatch, toApplicationColumns } from './requests.ts'

/**
 * Edits an application. When its scopes change or it loses an address, requests that wait for consent and codes that
 * were not exchanged end; tokens keep what people allowed.
 * Redirect addresses and scopes are the owner's and admins'.
 * @throws ApiError 404, 403, `validation_error` naming the field.
 */
export async function updateApplication(
  deps: Pick<Deps, 'db' | 'cache' | 'log' | 'metrics'>,
  viewer: Viewer,
  { id, patch }: { id: string; patch: ApplicationPatch },
): Promise<void> {
  const { max_scopes, redirect_uris } = patch
  const holdsCredentials = max_scopes !== undefined || redirect_uris !== undefined
  const accountId = await transaction(deps, async (tx) => {
    const before = requireEditable(viewer, await lockApplication(tx, id))
    if (holdsCredentials) requireCredentialsEditable(viewer, before)
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
    const isFewer = redirect_uris !== undefined && (await replaceRedirectUris(tx, id, redirect_uris))
    // A form sends the scopes with every other change.
    const isSame = max_scopes === undefined || toScopeBits(max_scopes, 'max_scopes') === before.max_scopes
    if (isSame && !isFewer) return before.account_id
    await tx.deleteFrom('oauth_flow').where('client_id', '=', id).execute()
    await tx.deleteFrom('oauth_code').where('client_id', '=', id).execute()
    return before.account_id
  })
  if (holdsCredentials && accountId !== viewer.id) {
    recordEvent(deps, 'oauth.application_changed_by_admin', { application_id: id, admin_id: viewer.id })
  }
}

/** Whether one of the old ones is gone. */
async function replaceRedirectUris(tx: Tx, id: string, uris: readonly string[]): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('oauth_redirect_uri')
    .where('client_id', '=', id)
    .where('uri', 'not in', uris)
    .executeTakeFirstOrThrow()
  await insertRedirectUris(tx, id, uris)
  return numDeletedRows > 0n
}
