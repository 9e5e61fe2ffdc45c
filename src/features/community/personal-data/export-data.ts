// Exports all data that Depot stores about a user, without secrets and without texts of other users.

import { type RawBuilder, sql } from 'kysely'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import type { Role, Viewer } from '#features/basics/access/viewer.ts'
import { type FilesConfig, IMAGE_KEYS, imageUrl } from '#features/basics/images/hosted-image.ts'
import { listVisibleProjects, type ProjectReader } from '#features/catalogue/projects/lookup/project-cache.ts'
import { listCollectionsOf } from '#features/community/collections/queries.ts'
import { toCollectionView } from '#features/community/collections/views.ts'
import { listCachedOrganizations, toOrganizationViews } from '#features/community/organizations/organization-cache.ts'
import { listPacksOf } from '#features/community/packs/queries.ts'
import { toPackView } from '#features/community/packs/views.ts'
import { listAccessTokens } from '#features/people/accounts/access-tokens/queries.ts'
import { toAccessTokenView } from '#features/people/accounts/access-tokens/views.ts'
import { toSessionView } from '#features/people/accounts/sessions/views.ts'
import { listAllNotificationsOf } from '#features/people/notifications/queries.ts'
import { toNotificationView } from '#features/people/notifications/views.ts'
import { getBalance, getHistory } from '#features/people/payouts/queries.ts'
import { type AccountRow, getAccount, listOrganizationIdsOf, listProjectIdsOf } from '#features/people/users/queries.ts'
import { type OwnFacts, toPrivateFields, toPrivateUserView, toPublicUserView } from '#features/people/users/views.ts'
import { joinJson } from '#lib/text/json-bytes.ts'
import { writeJsonArray } from '#lib/text/json-pieces.ts'
import { countRows, type Db } from '#platform/db/db.ts'

export type ExportReader = ProjectReader & { now: () => number }

/** Returns the export as JSON. The number of statements does not depend on the amount of data. */
export async function exportData(reader: ExportReader, viewer: Viewer): Promise<Buffer> {
  const { db, config } = reader
  const now = reader.now()
  const balance = await getBalance(db, viewer.id, now)
  const row = await getAccount(db, viewer.id)
  const organizations = await listCachedOrganizations(reader, await listOrganizationIdsOf(db, viewer.id))
  const projects = await listVisibleProjects(reader, viewer, await listProjectIdsOf(db, viewer, viewer.id))
  const parts: Record<string, Buffer> = {
    user: toJson(
      toPrivateUserView(toPublicUserView(row, config), toPrivateFields(row), {
        email: true,
        balance: balance.available,
      }),
    ),
    account: toJson(await toOwnFacts(db, { ...row, raw_avatar_url: imageUrl(config, row.raw_avatar_url) })),
    projects: joinJson(projects),
    orgs: joinJson(await toOrganizationViews(reader, viewer, organizations)),
    collections: await writeJsonArray(await listCollectionsOf(db, viewer, viewer.id), toCollectionView(config)),
    packs: await writeJsonArray(await listPacksOf(db, viewer, viewer.id), toPackView),
    notifs: await writeJsonArray(await listAllNotificationsOf(db, viewer.id), toNotificationView),
    balance: toJson(balance),
    payouts: await writeJsonArray(await getHistory(db, viewer.id, now), (entry) => entry),
    ...(await exportRows(reader, viewer)),
  }
  const pieces = Object.entries(parts).flatMap(([key, bytes], index) => [
    Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`),
    bytes,
  ])
  return Buffer.concat([...pieces, Buffer.from('}')])
}

/** Returns for an operator what the user would export. */
export function exportAccount(reader: ExportReader, { id, role, email_verified }: AccountRow): Promise<Buffer> {
  const token = { kind: 'session', id: '' } as const
  const viewer = { id, role: role as Role, emailVerified: email_verified, scopes: ALL_SCOPES, token }
  return exportData(reader, { ...viewer, caller: '', address: '' })
}

const toJson = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

/** Returns the fields of an account that no other response contains. */
async function toOwnFacts(db: Db, { id, code_host_id, raw_avatar_url }: AccountRow): Promise<OwnFacts> {
  const limits = await db
    .selectFrom('quota_override')
    .select(['projects', 'organizations', 'collections'])
    .where('account_id', '=', id)
    .executeTakeFirst()
  const count = await countRows(db.selectFrom('backup_code').where('account_id', '=', id))
  return { code_host_id, raw_avatar_url, limits: limits ?? null, backup_codes: count }
}

async function exportRows({ db, config }: ExportReader, { id, token }: Viewer): Promise<Record<string, Buffer>> {
  const sessions = await db.selectFrom('session').selectAll().where('account_id', '=', id).orderBy('created').execute()
  const pats = await listAccessTokens(db, id)
  const parts: Record<string, Buffer> = {
    sessions: await writeJsonArray(sessions, (row) =>
      toSessionView(row, { secret: null, current: token.kind === 'session' && row.id === token.id }),
    ),
    pats: await writeJsonArray(pats, (row) => toAccessTokenView(row, null)),
  }
  for (const [name, query] of Object.entries(queriesOf(id, config)))
    parts[name] = await writeJsonArray((await query.execute(db)).rows, (row) => row)
  return parts
}

/** Queries whose rows are exported unchanged. */
const queriesOf = (accountId: string, config: FilesConfig): Record<string, RawBuilder<unknown>> => ({
  origins: sql`
    select event, at, address_range::text as address_range, user_agent
    from account_origin where account_id = ${accountId} order by event`,
  terms_consents: sql`
    select version, agreed from terms_consent where account_id = ${accountId} order by version`,
  cleanups: sql`
    select created, bio, content from cleaned_account join account_cleanup on id = cleanup_id
    where account_id = ${accountId}`,
  teams: sql`
    select team_id, role, is_owner, permissions, organization_permissions, accepted,
      payouts_split::float8 as payouts_split, ordering, created
    from team_member where account_id = ${accountId} order by created`,
  versions: sql`
    select id, project_id, name, version_number, date_published
    from version where author_id = ${accountId} order by date_published`,
  pack_saves: sql`
    select pack_id, number, lock_id, pack_save.created from pack_save join pack on pack.id = pack_id
    where account_id = ${accountId} order by pack_save.created`,
  previous_pack_slugs: sql`
    select slug, pack_id from pack_previous_slug where account_id = ${accountId} order by slug`,
  reserved_usernames: sql`
    select username, expires from reserved_username where account_id = ${accountId} order by expires`,
  previous_usernames: sql`
    select name as username, recorded from previous_name where account_id = ${accountId} order by recorded`,
  email_settings: sql`select kind, is_emailed from email_setting where account_id = ${accountId} order by kind`,
  follows: sql`select project_id, created from follow where account_id = ${accountId} order by created`,
  webhooks: sql`
    select id, owner_kind, project_id, organization_id, host, format, events, active, created
    from webhook where account_id = ${accountId} or created_by = ${accountId} order by created`,
  passkeys: sql`
    select id, name, is_synced, created, last_used from passkey where account_id = ${accountId} order by created`,
  sign_in_providers: sql`
    select provider, subject, name, created, last_used
    from account_provider where account_id = ${accountId} order by created`,
  follow_feed: sql`select created from follow_feed where account_id = ${accountId}`,
  reports: sql`
    select id, report_type, item_type, item_id, body, created, closed
    from report where reporter_id = ${accountId} order by created`,
  messages: sql`
    select id, thread_id, body, created from thread_message where author_id = ${accountId} order by created`,
  oauth_clients: sql`
    select id, name, description, url, max_scopes, created
    from oauth_client where account_id = ${accountId} order by created`,
  oauth_authorizations: sql`
    select id, client_id, scopes, created from oauth_authorization where account_id = ${accountId} order by created`,
  oauth_tokens: sql`
    select id, client_id, scopes, created, expires, last_used
    from oauth_token where account_id = ${accountId} order by created`,
  affiliate_codes: sql`
    select id, source_name, share, created from affiliate_code where account_id = ${accountId} order by created`,
  uploaded_images: sql`
    select id, ${imageUrl(config, IMAGE_KEYS)} || substr(storage_key, ${IMAGE_KEYS.length + 1}) as url, context, size_bytes, created, project_id, version_id, report_id, thread_message_id
    from image where owner_id = ${accountId} order by created`,
  released_scans: sql`
    select version_id, finished from version_scan where released_by = ${accountId} order by finished`,
})
