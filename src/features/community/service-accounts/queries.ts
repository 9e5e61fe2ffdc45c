// Rows of service accounts.
import { listMemberships } from '#features/basics/access/memberships.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import {
  findMember,
  findViewerIn,
  getOrganizationRow,
  type OrganizationRow,
} from '#features/community/organizations/queries.ts'
import type { MemberRow } from '#features/community/teams/queries.ts'
import { type AccessTokenRow, TOKEN_COLUMNS } from '#features/people/accounts/access-tokens/queries.ts'
import { type AccountRow, getAccountByName } from '#features/people/users/queries.ts'
import { notFound } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import { asMember, requireManager, requireNoMoreThan, requireNoMoreThanInProjects } from './policy.ts'

export type ServiceAccount = { id: string; username: string; created: Date; tokens: AccessTokenRow[] }
export type ManagedOrganization = { organization: OrganizationRow; member: MemberRow | undefined }

/** Returns an organization whose service accounts the viewer manages. @throws ApiError 404, 403. */
export async function getManagedOrganization(db: Db, viewer: Viewer, name: string): Promise<ManagedOrganization> {
  const organization = await getOrganizationRow(db, name)
  const member = await findViewerIn(db, viewer, organization)
  requireManager(viewer, member)
  return { organization, member }
}

/** Returns a service account of an organization that the viewer manages. @throws ApiError 404, 403. */
export async function getServiceAccount(
  db: Db,
  viewer: Viewer,
  { organization: name, account: accountName }: { organization: string; account: string },
): Promise<ManagedOrganization & { account: AccountRow }> {
  const managed = await getManagedOrganization(db, viewer, name)
  const account = await getAccountByName(db, accountName)
  if (account.service_of !== managed.organization.id) throw notFound('user')
  return { ...managed, account }
}

/** Like `getServiceAccount`, for a new token of the account. @throws ApiError 404, 403, also for one project. */
export async function getGrantableAccount(
  db: Db,
  viewer: Viewer,
  names: { organization: string; account: string },
): Promise<{ organization: OrganizationRow; account: AccountRow }> {
  const { organization, member, account } = await getServiceAccount(db, asMember(viewer), names)
  requireNoMoreThan(asMember(viewer), member, await findMember(db, organization.team_id, account.id))
  const projectIds = await listProjectsWithRows(db, organization.id, [account.id, viewer.id])
  requireNoMoreThanInProjects({
    own: await listMemberships(db, viewer, projectIds),
    service: await listMemberships(db, { id: account.id }, projectIds),
  })
  return { organization, account }
}

/** Returns the projects of an organization in whose own teams one of the accounts has a row. */
async function listProjectsWithRows(db: Db, organizationId: string, accountIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('project')
    .innerJoin('team_member', 'team_member.team_id', 'project.team_id')
    .select('project.id')
    .distinct()
    .where('project.organization_id', '=', organizationId)
    .where('team_member.account_id', 'in', accountIds)
    .execute()
  return rows.map(({ id }) => id)
}

/** Returns the service accounts of an organization with their tokens, by username. Runs two statements. */
export async function listServiceAccounts(db: Db, organizationId: string): Promise<ServiceAccount[]> {
  const accounts = await db
    .selectFrom('account')
    .select(['id', 'username', 'created'])
    .where('service_of', '=', organizationId)
    .where('deletion_due', 'is', null)
    .orderBy('username')
    .execute()
  if (accounts.length === 0) return []
  const ids = accounts.map(({ id }) => id)
  const tokens = await db
    .selectFrom('personal_access_token')
    .select(TOKEN_COLUMNS)
    .where('account_id', 'in', ids)
    .orderBy('created', 'desc')
    .orderBy('id')
    .execute()
  const byAccount = Map.groupBy(tokens, ({ account_id }) => account_id)
  return accounts.map((account) => ({ ...account, tokens: byAccount.get(account.id) ?? [] }))
}
