// Reads the organization that will own a new project.

import { type ApiError, validationError } from '#lib/errors.ts'
import type { Db, Tx } from '#platform/db/db.ts'

/**
 * Returns the account's permission bits in the organization: 0 unless the account is an accepted member.
 * @throws ApiError `validation_error` if the organization does not exist.
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

/** Locks the organization against deletion until the transaction ends. @throws ApiError if it does not exist. */
export async function lockOrganization(tx: Tx, id: string): Promise<void> {
  const row = await tx.selectFrom('organization').select('id').where('id', '=', id).forShare().executeTakeFirst()
  if (row === undefined) throw organizationUnknown()
}

function organizationUnknown(): ApiError {
  return validationError('organization_id', 'must be the ID of an organization')
}
