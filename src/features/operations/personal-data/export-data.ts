// Everything Depot keeps of a person, for that person: no secrets, nothing of what others wrote.

import type { ProjectReader } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listVisibleByIds } from '#features/catalogue/projects/lookup/visible-lists.ts'
import { listCollectionsOf } from '#features/community/collections/queries.ts'
import { toCollectionView } from '#features/community/collections/views.ts'
import { listCachedOrganizations, toOrganizationViews } from '#features/community/organizations/organization-cache.ts'
import { toAccessTokenView } from '#features/people/accounts/access-tokens/views.ts'
import { toSessionView } from '#features/people/accounts/sessions/views.ts'
import { listAllNotificationsOf } from '#features/people/notifications/queries.ts'
import { toNotificationView } from '#features/people/notifications/views.ts'
import { getBalance, getHistory } from '#features/people/payouts/queries.ts'
import { type AccountRow, getAccount, listOrganizationIdsOf, listProjectIdsOf } from '#features/people/users/queries.ts'
import { type OwnFacts, toPrivateUserView } from '#features/people/users/views.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { joinJson } from '#lib/text/json-bytes.ts'
import { writeJsonArray } from '#lib/text/json-pieces.ts'
import type { Db } from '#platform/db/db.ts'

export type ExportReader = ProjectReader & { now: () => number }

/** The JSON object of it all, as bytes. The number of statements does not depend on how much there is. */
export async function exportData(reader: ExportReader, viewer: Viewer): Promise<Buffer> {
  const { db } = reader
  const now = reader.now()
  const balance = await getBalance(db, viewer.id, now)
  const row = await getAccount(db, viewer.id)
  const organizations = await listCachedOrganizations(reader, await listOrganizationIdsOf(db, viewer.id))
  const projects = await listVisibleByIds(reader, viewer, await listProjectIdsOf(db, viewer, viewer.id))
  const parts: Record<string, Buffer> = {
    user: toJson(toPrivateUserView(row, { email: true, balance: balance.available })),
    account: toJson(await toOwnFacts(db, row)),
    projects: joinJson(projects),
    orgs: joinJson(await toOrganizationViews(reader, viewer, organizations)),
    collections: await writeJsonArray(await listCollectionsOf(db, viewer, viewer.id), toCollectionView),
    notifs: await writeJsonArray(await listAllNotificationsOf(db, viewer.id), toNotificationView),
    balance: toJson(balance),
    payouts: await writeJsonArray(await getHistory(db, viewer.id, now), (entry) => entry),
    ...(await exportRows(db, viewer)),
  }
  const pieces = Object.entries(parts).flatMap(([key, bytes], index) => [
    Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`),
    bytes,
  ])
  return Buffer.concat([...pieces, Buffer.from('}')])
}

const toJson = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

/** What no other answer shows of an account: where it signs in from, its unscaled picture, limits of its own. */
async function toOwnFacts(db: Db, { id, code_host_id, raw_avatar_url }: AccountRow): Promise<OwnFacts> {
  const limits = await db
    .selectFrom('quota_override')
    .select(['projects', 'organizations', 'collections'])
    .where('account_id', '=', id)
    .executeTakeFirst()
  const { count } = await db
    .selectFrom('backup_code')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('account_id', '=', id)
    .executeTakeFirstOrThrow()
  return { code_host_id, raw_avatar_url, limits: limits ?? null, backup_codes: count }
}

async function exportRows(db: Db, { id, token }: Viewer): Promise<Record<string, Buffer>> {
  const sessions = await db.selectFrom('session').selectAll().where('account_id', '=', id).orderBy('created').execute()
  const pats = await db
    .selectFrom('personal_access_token')
    .selectAll()
    .where('account_id', '=', id)
    .orderBy('created')
    .execute()
  const teams = await db
    .selectFrom('team_member')
    .select([
      'team_id',
      'role',
      'is_owner',
      'permissions',
      'organization_permissions',
      'accepted',
      'payouts_split',
      'ordering',
      'created',
    ])
    .where('account_id', '=', id)
    .orderBy('created')
    .execute()
  const versions = await db
    .selectFrom('version')
    .select(['id', 'project_id', 'name', 'version_number', 'date_published'])
    .where('author_id', '=', id)
    .orderBy('date_published')
    .execute()
  const follows = await db
    .selectFrom('follow')
    .select(['project_id', 'created'])
    .where('account_id', '=', id)
    .orderBy('created')
    .execute()
  const reports = await db
    .selectFrom('report')
    .select(['id', 'report_type', 'item_type', 'item_id', 'body', 'created', 'closed'])
    .where('reporter_id', '=', id)
    .orderBy('created')
    .execute()
  const messages = await db
    .selectFrom('thread_message')
    .select(['id', 'thread_id', 'body', 'created'])
    .where('author_id', '=', id)
    .orderBy('created')
    .execute()
  const oauthClients = await db
    .selectFrom('oauth_client')
    .select(['id', 'name', 'description', 'url', 'max_scopes', 'created'])
    .where('account_id', '=', id)
    .orderBy('created')
    .execute()
  const oauthAuthorizations = await db
    .selectFrom('oauth_authorization')
    .select(['id', 'client_id', 'scopes', 'created'])
    .where('account_id', '=', id)
    .orderBy('created')
    .execute()
  const oauthTokens = await db
    .selectFrom('oauth_token')
    .select(['id', 'client_id', 'scopes', 'created', 'expires', 'last_used'])
    .where('account_id', '=', id)
    .orderBy('created')
    .execute()
  const releasedScans = await db
    .selectFrom('version_scan')
    .select(['version_id', 'finished'])
    .where('released_by', '=', id)
    .orderBy('finished')
    .execute()
  const images = await db
    .selectFrom('image')
    .select(['id', 'url', 'context', 'size_bytes', 'created'])
    .select(['project_id', 'version_id', 'report_id', 'thread_message_id'])
    .where('owner_id', '=', id)
    .orderBy('created')
    .execute()
  const affiliateCodes = await db
    .selectFrom('affiliate_code')
    .select(['id', 'source_name', 'share', 'created'])
    .where('account_id', '=', id)
    .orderBy('created')
    .execute()
  const unchanged = <Row>(rows: Row[]) => writeJsonArray(rows, (row) => row)
  return {
    sessions: await writeJsonArray(sessions, (row) =>
      toSessionView(row, { secret: null, current: token.kind === 'session' && row.id === token.id }),
    ),
    pats: await writeJsonArray(pats, (row) => toAccessTokenView(row, null)),
    teams: await writeJsonArray(teams, (row) => ({ ...row, payouts_split: Number(row.payouts_split) })),
    versions: await unchanged(versions),
    follows: await unchanged(follows),
    reports: await unchanged(reports),
    messages: await unchanged(messages),
    oauth_clients: await unchanged(oauthClients),
    oauth_authorizations: await unchanged(oauthAuthorizations),
    oauth_tokens: await unchanged(oauthTokens),
    affiliate_codes: await unchanged(affiliateCodes),
    uploaded_images: await unchanged(images),
    released_scans: await unchanged(releasedScans),
  }
}
