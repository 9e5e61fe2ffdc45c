import { lockAccount } from '#features/basics/access/accounts.ts'
import { requireApproved } from '#features/basics/access/email-policy.ts'
import { toScopeBits } from '#features/basics/access/scope-field.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { requireRoom } from '#features/basics/limits/quota.ts'
import { newSecret } from '#lib/access/tokens.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { insertRedirectUris } from './queries.ts'
import { checkApplication, type NewApplication } from './requests.ts'

/** Maximum number of applications of an account. */
const APPLICATIONS_MAX = 100

/**
 * Creates an application and returns its secret, which cannot be read again; null for a public client.
 * @throws ApiError `validation_error` naming the field, `limit_reached`, 403 for an account that waits for approval.
 */
export async function createApplication(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  fields: NewApplication,
): Promise<{ id: string; secret: string | null }> {
  const { id: accountId } = viewer
  requireApproved(viewer)
  checkApplication(fields)
  const { public_client: isPublic = false, redirect_uris, description = null, url = null, ...rest } = fields
  const max_scopes = toScopeBits(fields.max_scopes, 'max_scopes')
  const id = newId()
  const credentials = isPublic ? undefined : newSecret()
  await transaction(deps, async (tx) => {
    await lockAccount(tx, accountId)
    await requireRoom(tx, accountId, { table: 'oauth_client', max: APPLICATIONS_MAX, things: 'applications' })
    const stored = { ...rest, max_scopes, description, url, secret_hash: credentials?.hash ?? null }
    await tx
      .insertInto('oauth_client')
      .values({ id, account_id: accountId, ...stored, created: new Date(deps.now()) })
      .execute()
    await insertRedirectUris(tx, id, redirect_uris)
    const subject = { kind: 'oauth_application', id } as const
    await recordAudit(tx, { action: 'oauth.application_created', actor: actorOf(viewer), subject })
  })
  return { id, secret: credentials?.secret ?? null }
}
