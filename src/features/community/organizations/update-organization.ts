import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { namingLastEdit } from '#features/basics/audit/last-edit.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { ICON_BYTES_MAX, type IconOwner } from '#features/basics/images/icons.ts'
import { listProjectIdsOfOrganization } from '#features/catalogue/projects/queries.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import { requireRevision, withCurrentState } from '#platform/cache/revisions.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Db } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { Deps } from '#ports/deps.ts'
import { getOrganizationView } from './organization-cache.ts'
import { requirePermissionIn } from './policy.ts'
import { assertSlugFree, findViewerIn, getOrganizationRow, lockOrganization, slugTaken } from './queries.ts'
import { type OrganizationPatch, toOrganizationColumns } from './requests.ts'

type OrganizationEdit = {
  name: string
  patch: OrganizationPatch
  /** Revision on which the edit is based. Default: any. */
  revision?: number | undefined
}

/**
 * @throws ApiError 404, 403 without EDIT_DETAILS, `validation_error` naming the field, `conflict` for the slug or an
 * outdated revision.
 */
export async function updateOrganization(
  deps: Pick<Deps, 'db' | 'cache' | 'config'>,
  viewer: Viewer,
  edit: OrganizationEdit,
): Promise<void> {
  const { id } = await getOrganizationRow(deps.db, edit.name)
  await namingLastEdit(deps.db, { kind: 'organization', id }, () =>
    withCurrentState(
      deps,
      () => saveOrganization(deps, viewer, { ...edit, name: id }),
      async (reader) => viewOf(await getOrganizationView(reader, viewer, id)),
    ),
  )
}

async function saveOrganization(
  deps: Pick<Deps, 'db' | 'cache'>,
  viewer: Viewer,
  { name, patch, revision }: OrganizationEdit,
): Promise<void> {
  const update = toOrganizationColumns(patch)
  await transaction(deps, async (tx, changed) => {
    const row = await lockOrganization(tx, name, 'change')
    requirePermissionIn(viewer, await findViewerIn(tx, viewer, row), 'EDIT_DETAILS')
    requireRevision(row, revision)
    if (Object.keys(update).length === 0) return
    if (update.slug !== undefined) await assertSlugFree(tx, update.slug, row.id)
    await tx
      .updateTable('organization')
      .set(update)
      .where('id', '=', row.id)
      .execute()
      .catch(onUnique({ organization_slug_key: slugTaken }))
    const subject = { kind: 'organization', id: row.id } as const
    const details = { fields: Object.keys(update) }
    await recordAudit(tx, { action: 'organization.changed', actor: actorOf(viewer), subject, details })
    changed.add('organization', row.id)
    // Search results show the name of the organization for each of its projects.
    if (update.name !== undefined) changed.add('project', ...(await listProjectIdsOfOrganization(tx, row.id)))
  })
}

/** Lets members with EDIT_DETAILS change the icon of an organization. */
export function organizationIconOwner(db: Db): IconOwner {
  return {
    path: '/v3/organization',
    noun: 'Organization',
    scopes: ['ORGANIZATION_WRITE'],
    limitedTokens: 'resource',
    maxBytes: ICON_BYTES_MAX,
    authorize: async (viewer, name) => {
      const row = await getOrganizationRow(db, name)
      requirePermissionIn(viewer, await findViewerIn(db, viewer, row), 'EDIT_DETAILS')
      return row.id
    },
    write: async (tx, changed, { id, viewer, icon }) => {
      const row = await lockOrganization(tx, id, 'change')
      requirePermissionIn(viewer, await findViewerIn(tx, viewer, row), 'EDIT_DETAILS')
      await tx
        .updateTable('organization')
        .set({ icon_url: icon?.key ?? null, raw_icon_url: icon?.rawKey ?? null, color: icon?.color ?? null })
        .where('id', '=', id)
        .execute()
      changed.add('organization', id)
      return [row.icon_url, row.raw_icon_url]
    },
  }
}
