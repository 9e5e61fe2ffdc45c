// Whether a viewer may put a new project into an organization.
import type { Db } from '#db/db.ts'
import { forbidden, validationError } from '#lib/errors.ts'
import { hasOrganizationPermission } from '#lib/permissions.ts'
import { isAdmin, type Viewer } from '#lib/viewer.ts'

/** @throws ApiError `validation_error` for an unknown organization, 403 without ADD_PROJECT in it. */
export async function requireAddProject(db: Db, viewer: Viewer, organizationId: string): Promise<void> {
  const row = await db
    .selectFrom('organization')
    .leftJoin('team_member', (join) =>
      join
        .onRef('team_member.team_id', '=', 'organization.team_id')
        .on('team_member.account_id', '=', viewer.id)
        .on('team_member.accepted', '=', true),
    )
    .select(['organization.id', 'team_member.organization_permissions'])
    .where('organization.id', '=', organizationId)
    // It stays until the project is in it.
    .forShare('organization')
    .executeTakeFirst()
  if (row === undefined) throw validationError('organization_id', 'names no organization')
  if (isAdmin(viewer)) return
  if (!hasOrganizationPermission(row.organization_permissions ?? 0, 'ADD_PROJECT')) {
    throw forbidden('You lack the permission ADD_PROJECT in this organization')
  }
}
