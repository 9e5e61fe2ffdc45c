// Ends what acts for an account, by the table in access-table.ts. Every event that ends trust calls one of these functions in
// its transaction.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { LostAccess } from '#features/basics/access/end-lost-access.ts'
import { CREATOR_IS_MEMBER } from '#features/basics/access/publishers.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import { ACCESS_EVENTS, ACCESS_KINDS, type AccessEvent, type AccessKind } from './access-table.ts'
import { deletePasskeys } from './delete-passkeys.ts'
import { disableWebhook } from './disable-webhooks.ts'
import { CREATOR_MAY_NOT_MANAGE, MAKER_IS_MEMBER } from './lost-conditions.ts'
import { stopPublishers } from './stop-publishers.ts'

type Ending = {
  tx: Tx
  changed: ChangeSet
  accountId: string
  /** Time from which `newer` counts. */
  since: Date
  /** Session that continues: that of the request. */
  exceptSessionId: string | undefined
  now: number
}

/** Ends the rows of a kind; with `isNewer`, only those that were created since `since`. */
type End = (ending: Ending, isNewer: boolean) => Promise<void>

const flows =
  (...kinds: readonly string[]): End =>
  async ({ tx, accountId }) => {
    await sql`delete from account_flow where account_id = ${accountId} and kind = any(${kinds}::text[])`.execute(tx)
  }

const createdBy = ({ accountId, since }: Ending, column: string, isNewer: boolean): RawBuilder<SqlBool> =>
  sql<SqlBool>`${sql.ref(column)} = ${accountId} and (not ${isNewer} or created >= ${since})`

const ENDS: Readonly<Record<AccessKind, End>> = {
  sessions: (ending) => {
    const { accountId, exceptSessionId = '' } = ending
    return deleteTokens(ending, 'session', sql<SqlBool>`account_id = ${accountId} and id <> ${exceptSessionId}`)
  },
  sign_ins: flows('sign_in_second_factor', 'set_up_totp', 'add_passkey'),
  password_links: flows('reset_password'),
  email_changes: flows('verify_email'),
  undo_links: flows('undo_email_change'),
  passkeys: ({ tx, changed, accountId, since }, isNewer) =>
    deletePasskeys(tx, changed, isNewer ? { accountId, since } : { accountId }),
  provider_links: async (ending, isNewer) => {
    const { tx, changed, accountId } = ending
    await sql`delete from account_provider where ${createdBy(ending, 'account_id', isNewer)}`.execute(tx)
    await sql`update account set sign_in_providers = array(
      select provider from account_provider where account_id = ${accountId} order by provider)
      where id = ${accountId}`.execute(tx)
    changed.add('user', accountId)
  },
  access_tokens: (ending, isNewer) =>
    deleteTokens(ending, 'personal_access_token', createdBy(ending, 'account_id', isNewer)),
  oauth_codes: async ({ tx, accountId }) => {
    await tx.deleteFrom('oauth_code').where('account_id', '=', accountId).execute()
    await tx.deleteFrom('oauth_flow').where('account_id', '=', accountId).execute()
  },
  oauth_grants: async (ending, isNewer) => {
    const which = createdBy(ending, 'account_id', isNewer)
    // The lock prevents an exchange from adding a token that would remain in caches.
    await sql`select from oauth_authorization where account_id = ${ending.accountId} order by id for update`.execute(
      ending.tx,
    )
    await deleteTokens(ending, 'oauth_token', which)
    await sql`delete from oauth_authorization where ${which}`.execute(ending.tx)
  },
  secret_feeds: async (ending, isNewer) => {
    await sql`delete from follow_feed where ${createdBy(ending, 'account_id', isNewer)}`.execute(ending.tx)
  },
  code_host: async ({ tx, changed, accountId }) => {
    await tx.updateTable('account').set({ code_host_id: null }).where('id', '=', accountId).execute()
    changed.add('user', accountId)
  },
  service_tokens: (ending, isNewer) =>
    deleteTokens(ending, 'personal_access_token', createdBy(ending, 'created_by', isNewer)),
  webhooks: ({ tx, changed, accountId }) =>
    disableWebhooks(tx, changed, sql<SqlBool>`(created_by = ${accountId} or account_id = ${accountId})`),
  trusted_publishers: (ending, isNewer) =>
    stopPublishers(ending.tx, ending.changed, createdBy(ending, 'created_by', isNewer), ending.now),
}

const KINDS = Object.keys(ACCESS_KINDS) as readonly AccessKind[]

type AccountEvent = Exclude<AccessEvent, 'left' | 'permission_lost' | 'organization_deleted'>

/**
 * Ends what acts for an account after an event, immediately in every process. The account must be locked.
 * @param since time after which `newer` rows were created.
 * @param exceptSessionId session that continues.
 */
export async function endAccess(
  tx: Tx,
  changed: ChangeSet,
  event: AccountEvent,
  of: { accountId: string; now: number; since?: Date; exceptSessionId?: string | undefined },
): Promise<void> {
  const ending = { ...of, tx, changed, since: of.since ?? new Date(of.now), exceptSessionId: of.exceptSessionId }
  for (const kind of KINDS) {
    const effect = ACCESS_EVENTS[event].effects[kind]
    if (effect === 'ends' || effect === 'newer') await ENDS[kind](ending, effect === 'newer')
  }
}

/**
 * Ends what may not act any more after a change of members, permissions, roles or owners: webhooks whose creator may not
 * manage them, trusted publishers whose creator left, and tokens of service accounts whose maker left. Checks everything that
 * these accounts created, or everything of these projects, and the state in the transaction decides. What stays is limited at
 * each use.
 */
export async function endLostAccess(tx: Tx, changed: ChangeSet, { now, ...of }: LostAccess): Promise<void> {
  const [column, ids] = 'accountIds' in of ? ['created_by', of.accountIds] : ['project_id', of.projectIds]
  if (ids.length === 0) return
  const among = (table: string) => sql<SqlBool>`${sql.ref(`${table}.${column}`)} = any(${[...ids]}::text[])`
  await disableWebhooks(tx, changed, sql<SqlBool>`${among('webhook')} and ${CREATOR_MAY_NOT_MANAGE}`)
  await stopPublishers(tx, changed, sql<SqlBool>`${among('publisher')} and not ${CREATOR_IS_MEMBER}`, now)
  if (!('accountIds' in of)) return
  const which = sql<SqlBool>`${among('personal_access_token')} and not ${MAKER_IS_MEMBER}`
  await deleteTokens({ tx, changed }, 'personal_access_token', which)
}

/** Deletes tokens with their rate limit grants, immediately in every process. */
async function deleteTokens(
  { tx, changed }: Pick<Ending, 'tx' | 'changed'>,
  table: 'session' | 'personal_access_token' | 'oauth_token',
  which: RawBuilder<SqlBool>,
): Promise<void> {
  const { rows } = await sql<{ id: string; hash: string }>`
    delete from ${sql.table(table)} where ${which} returning id, encode(token_hash, 'hex') as hash`.execute(tx)
  if (rows.length === 0) return
  const hashes = rows.map(({ hash }) => hash)
  changed.addEach('token', hashes)
  await sql`delete from rate_limit_grant where token_id = any(${rows.map(({ id }) => id)}::text[])`.execute(tx)
}

async function disableWebhooks(tx: Tx, changed: ChangeSet, which: RawBuilder<SqlBool>): Promise<void> {
  const webhooks = await tx
    .selectFrom('webhook')
    .select(['id', 'owner_kind', 'project_id', 'organization_id', 'account_id', 'host'])
    .where('active', '=', true)
    .where(which)
    .orderBy('id')
    .forUpdate()
    .execute()
  for (const webhook of webhooks) await disableWebhook(tx, changed, webhook, 'access_lost')
}
