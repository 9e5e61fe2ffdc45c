import type { ChangeSet } from '#cache/changes.ts'
import type { Db, Tx } from '#db/db.ts'
import { onUnique } from '#db/pg-errors.ts'
import { organizationPermissions, requireOrganizationPermission } from '#features/access/team-policy.ts'
import { listProjectIdsOfOrganization } from '#features/projects/queries.ts'
import type { Viewer } from '#lib/viewer.ts'
import { assertSlugFree, findMember, lockOrganization, type OrganizationRow, slugTaken } from './queries.ts'
import type { OrganizationTexts } from './views.ts'

/** @throws ApiError 404, 403 without EDIT_DETAILS, or `conflict` for the slug. */
export async function updateOrganization(
  tx: Tx,
  changed: ChangeSet,
  viewer: Viewer,
  { name, texts }: { name: string; texts: OrganizationTexts },
): Promise<void> {
  const row = await lockOrganization(tx, name, 'change')
  await requireEditDetails(tx, viewer, row)
  if (Object.keys(texts).length === 0) return
  if (texts.slug !== undefined) await assertSlugFree(tx, texts.slug, row.id)
  await tx
    .updateTable('organization')
    .set(texts)
    .where('id', '=', row.id)
    .execute()
    .catch(onUnique({ organization_slug_key: slugTaken }))
  changed.add('organization', row.id)
  // Search shows the name with each of its projects.
  if (texts.name !== undefined) changed.add('project', ...(await listProjectIdsOfOrganization(tx, row.id)))
}

/** @throws ApiError 403 unless the viewer may edit the organization; moderators may. */
export async function requireEditDetails(db: Db, viewer: Viewer, row: OrganizationRow): Promise<void> {
  const bits = organizationPermissions(viewer, await findMember(db, row.team_id, viewer.id))
  requireOrganizationPermission(bits, 'EDIT_DETAILS')
}
