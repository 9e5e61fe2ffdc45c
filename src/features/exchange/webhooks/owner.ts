// The owner of a webhook: a project, an organization, a user or the instance.
import { requirePermission } from '#features/basics/access/project-policy.ts'
import { organizationPermissions, requireOrganizationPermission } from '#features/basics/access/team-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { getProjectAsMember } from '#features/catalogue/projects/lookup/project-cache.ts'
import { findViewerIn, getOrganizationRow } from '#features/community/organizations/queries.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { ApiError, notFound, validationError } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'
import { requireInstanceWebhooks, requireUserWebhooks } from './policy.ts'
import { findWebhook, type OwnerColumns, type WebhookRow } from './queries.ts'
import type { OwnerKind } from './requests.ts'

const NONE = { project_id: null, organization_id: null, account_id: null }

export const INSTANCE: OwnerColumns = { ...NONE, owner_kind: 'instance' }

/**
 * Returns the owner with this ID or name, if the viewer may manage its webhooks.
 * @throws ApiError 404, 403, also without EDIT_DETAILS of the project or the organization.
 */
export async function getOwner(
  deps: Deps,
  viewer: Viewer,
  { kind, name }: { kind: OwnerKind; name: string },
): Promise<OwnerColumns> {
  if (kind === 'project') {
    const { project, membership } = await getProjectAsMember(deps, viewer, name)
    requirePermission(viewer, membership, 'EDIT_DETAILS')
    return { ...NONE, owner_kind: kind, project_id: project.id }
  }
  if (kind === 'organization') {
    const organization = await getOrganizationRow(deps.db, name)
    const member = await findViewerIn(deps.db, viewer, organization)
    requireOrganizationPermission(organizationPermissions(viewer, member), 'EDIT_DETAILS')
    return { ...NONE, owner_kind: kind, organization_id: organization.id }
  }
  if (kind === 'user') {
    const account = await getAccountByName(deps.db, name)
    requireUserWebhooks(viewer, account)
    return { ...NONE, owner_kind: kind, account_id: account.id }
  }
  requireInstanceWebhooks(viewer)
  return INSTANCE
}

/** Returns the owner that the body of a new webhook names. @throws ApiError 403, `validation_error` naming `owner.id`. */
export async function getNewOwner(
  deps: Deps,
  viewer: Viewer,
  { kind, id }: { kind: OwnerKind; id?: string },
): Promise<OwnerColumns> {
  if (kind === 'instance' && id !== undefined) throw validationError('owner.id', 'must be absent for the instance')
  if (kind !== 'instance' && id === undefined) throw validationError('owner.id', `must be the ID of the ${kind}`)
  return getOwner(deps, viewer, { kind, name: id ?? '' }).catch((error: unknown) => {
    if (error instanceof ApiError && error.kind === 'not_found')
      throw validationError('owner.id', `must be the ID of ${kind === 'organization' ? 'an' : 'a'} ${kind}`)
    throw error
  })
}

/** Returns the ID of the owner; null for the instance. */
export function ownerIdOf({ project_id, organization_id, account_id }: OwnerColumns): string | null {
  return project_id ?? organization_id ?? account_id
}

/**
 * Returns the webhook with this ID, if the viewer may manage it.
 * @throws ApiError 404, also if the viewer may not: nobody else needs to know that it exists.
 */
export async function getWebhook(deps: Deps, viewer: Viewer, id: string): Promise<WebhookRow> {
  const row = await findWebhook(deps.db, id)
  if (row === undefined) throw notFound('webhook')
  await getOwner(deps, viewer, { kind: row.owner_kind as OwnerKind, name: ownerIdOf(row) ?? '' }).catch(
    (error: unknown) => {
      const isRefusal = error instanceof ApiError && (error.kind === 'not_found' || error.kind === 'forbidden')
      throw isRefusal ? notFound('webhook') : error
    },
  )
  return row
}
