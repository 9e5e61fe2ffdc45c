import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { newSecret } from '#lib/access/tokens.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { requireSecretOwner } from './policy.ts'
import { lockApplication } from './queries.ts'

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
