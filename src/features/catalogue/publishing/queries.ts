// Organizations, as far as publishing asks.

import { type ApiError, validationError } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'

/**
 * The account's permission bits as an accepted member, 0 for others.
 * @throws ApiError `validation_error` when there is no such organization.
 */
export async function getOrganizationPermissions(db: Db, organizationId: string, accountId: string): Promise<number> {
  const row = await db
    .selectFrom('organization')
    .leftJoin('team_member', (join) =>
      join
        .onRef('team_member.team_id', '=', 'organization.team_id')
        .on('team_member.account_id', '=', accountId)
        .on('team_member.accepted', '=', true),
    )
    .select('team_member.organization_permissions')
    .where('organization.id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw organizationUnknown()
  return row.organization_permissions ?? 0
}

/** Keeps an organization from being deleted before the project is in it. @throws ApiError when it is gone. */
export async function lockOrganization(tx: Tx, id: string): Promise<void> {
  const row = await tx.selectFrom('organization').select('id').where('id', '=', id).forShare().executeTakeFirst()
  if (row === undefined) throw organizationUnknown()
}

function organizationUnknown(): ApiError {
  return validationError('organization_id', 'names no organization')
}
