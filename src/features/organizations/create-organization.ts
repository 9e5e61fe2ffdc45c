import type { Tx } from '#db/db.ts'
import { onUnique } from '#db/pg-errors.ts'
import { checkQuota } from '#features/limits/quota.ts'
import { newId } from '#lib/ids.ts'
import { ALL_ORGANIZATION_PERMISSIONS, ALL_PROJECT_PERMISSIONS } from '#lib/permissions.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { Deps } from '#main/deps.ts'
import { assertSlugFree, slugTaken } from './queries.ts'
import type { NewOrganization } from './views.ts'

/** The weight of the owner's share of revenue until he sets another one (decisions.md 6). */
const OWNER_SPLIT = 100

/**
 * Makes an organization with its team, whose first row is the creator as owner, and returns its ID.
 * @throws ApiError `limit_reached`, or `conflict` for the slug.
 */
export async function createOrganization(
  tx: Tx,
  config: Pick<Deps['config'], 'quotas'>,
  viewer: Viewer,
  texts: NewOrganization,
): Promise<string> {
  await checkQuota(tx, config, viewer, 'organizations')
  await assertSlugFree(tx, texts.slug)
  const id = newId()
  const teamId = newId()
  await tx.insertInto('team').values({ id: teamId }).execute()
  await tx
    .insertInto('team_member')
    .values({
      team_id: teamId,
      account_id: viewer.id,
      role: 'Owner',
      is_owner: true,
      accepted: true,
      permissions: ALL_PROJECT_PERMISSIONS,
      organization_permissions: ALL_ORGANIZATION_PERMISSIONS,
      payouts_split: OWNER_SPLIT,
    })
    .execute()
  await tx
    .insertInto('organization')
    .values({ id, team_id: teamId, ...texts })
    .execute()
    .catch(onUnique({ organization_slug_key: slugTaken }))
  return id
}
