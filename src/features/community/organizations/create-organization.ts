import { requireVerifiedEmail } from '#features/basics/access/email-policy.ts'
import { ALL_ORGANIZATION_PERMISSIONS, ALL_PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { checkQuota } from '#features/basics/limits/quota.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { assertSlugFree, slugTaken } from './queries.ts'
import type { NewOrganization } from './requests.ts'

/** Initial weight of the owner's share of revenue. */
const OWNER_SPLIT = 100

/**
 * Creates an organization and its team, with the creator as owner, and returns its ID.
 * @throws ApiError 403 without a verified email address, `limit_reached`, `conflict` for the slug.
 */
export async function createOrganization(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'log' | 'metrics'>,
  viewer: Viewer,
  texts: NewOrganization,
): Promise<string> {
  requireVerifiedEmail(deps, viewer)
  const id = newId()
  const teamId = newId()
  await transaction(deps, async (tx) => {
    await checkQuota(tx, deps.config, viewer, 'organizations')
    await assertSlugFree(tx, texts.slug)
    await insertOwnedTeam(tx, teamId, viewer.id)
    await tx
      .insertInto('organization')
      .values({ id, team_id: teamId, ...texts })
      .execute()
      .catch(onUnique({ organization_slug_key: slugTaken }))
    await recordAudit(tx, {
      action: 'organization.created',
      actor: actorOf(viewer),
      subject: { kind: 'organization', id },
      details: { slug: texts.slug },
    })
  })
  recordEvent(deps, 'organization.created', { organization_id: id })
  return id
}

async function insertOwnedTeam(tx: Tx, teamId: string, ownerId: string): Promise<void> {
  await tx.insertInto('team').values({ id: teamId }).execute()
  await tx
    .insertInto('team_member')
    .values({
      team_id: teamId,
      account_id: ownerId,
      role: 'Owner',
      is_owner: true,
      accepted: true,
      permissions: ALL_PROJECT_PERMISSIONS,
      organization_permissions: ALL_ORGANIZATION_PERMISSIONS,
      payouts_split: OWNER_SPLIT,
    })
    .execute()
}
