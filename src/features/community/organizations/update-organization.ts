import { listProjectIdsOfOrganization } from '#features/catalogue/projects/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { Deps } from '#ports/deps.ts'
import { requirePermissionIn } from './policy.ts'
import { assertSlugFree, findMember, lockOrganization, slugTaken } from './queries.ts'
import { type OrganizationPatch, toOrganizationColumns } from './requests.ts'

/** @throws ApiError 404, 403 without EDIT_DETAILS, `validation_error` naming the field, `conflict` for the slug. */
export async function updateOrganization(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { name, patch }: { name: string; patch: OrganizationPatch },
): Promise<void> {
  const update = toOrganizationColumns(patch)
  await transaction(deps, async (tx, changed) => {
    const row = await lockOrganization(tx, name, 'change')
    requirePermissionIn(viewer, await findMember(tx, row.team_id, viewer.id), 'EDIT_DETAILS')
    if (Object.keys(update).length === 0) return
    if (update.slug !== undefined) await assertSlugFree(tx, update.slug, row.id)
    await tx
      .updateTable('organization')
      .set(update)
      .where('id', '=', row.id)
      .execute()
      .catch(onUnique({ organization_slug_key: slugTaken }))
    changed.add('organization', row.id)
    // Search results show the name of the organization for each of its projects.
    if (update.name !== undefined) changed.add('project', ...(await listProjectIdsOfOrganization(tx, row.id)))
  })
}
