// Lets members with EDIT_DETAILS change the icon of an organization.

import { ICON_BYTES_MAX, type IconOwner } from '#features/basics/images/icons.ts'
import { notFound } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import { requirePermissionIn } from './policy.ts'
import { findMember, findOrganization, lockOrganization } from './queries.ts'

export function organizationIconOwner(db: Db): IconOwner {
  return {
    path: '/v3/organization',
    noun: 'Organization',
    scopes: ['ORGANIZATION_WRITE'],
    maxBytes: ICON_BYTES_MAX,
    authorize: async (viewer, name) => {
      const row = await findOrganization(db, name)
      if (row === undefined) throw notFound('organization')
      requirePermissionIn(viewer, await findMember(db, row.team_id, viewer.id), 'EDIT_DETAILS')
      return row.id
    },
    write: async (tx, changed, { id, viewer, icon }) => {
      const row = await lockOrganization(tx, id, 'change')
      requirePermissionIn(viewer, await findMember(tx, row.team_id, viewer.id), 'EDIT_DETAILS')
      await tx
        .updateTable('organization')
        .set({ icon_url: icon?.url ?? null, raw_icon_url: icon?.rawUrl ?? null, color: icon?.color ?? null })
        .where('id', '=', id)
        .execute()
      changed.add('organization', id)
      return [row.icon_url, row.raw_icon_url]
    },
  }
}
