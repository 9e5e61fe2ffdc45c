import { type Selectable, sql } from 'kysely'
import { ApiError } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { AccountProvider } from '#platform/db/schema.ts'
import type { ProviderIdentity } from './provider-client.ts'

export type ProviderLink = Selectable<AccountProvider>

/** Returns the links of an account, oldest first. */
export function listProviderLinks(db: Db, accountId: string): Promise<ProviderLink[]> {
  return db
    .selectFrom('account_provider')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created')
    .orderBy('provider')
    .execute()
}

/** Records a sign-in with a link. Returns the ID of the account; undefined if no account has the link. */
export async function findLinkedAccount(
  db: Db,
  { provider, subject, now }: { provider: string; subject: string; now: number },
): Promise<string | undefined> {
  const row = await db
    .updateTable('account_provider')
    .set({ last_used: new Date(now) })
    .where('provider', '=', provider)
    .where('subject', '=', subject)
    .returning('account_id')
    .executeTakeFirst()
  return row?.account_id
}

/** Links a locked account. @throws ApiError `conflict` if an account already has this link, or the account another one */
export async function insertProviderLink(
  tx: Tx,
  changed: ChangeSet,
  of: { accountId: string; provider: string; identity: ProviderIdentity; now: number },
): Promise<void> {
  const { accountId, provider, identity, now } = of
  const { subject, name } = identity
  await tx
    .insertInto('account_provider')
    .values({ account_id: accountId, provider, subject, name, created: new Date(now) })
    .execute()
    .catch(onUnique({ account_provider_pkey: linkedElsewhere, account_provider_account_key: linkedElsewhere }))
  await storeProviders(tx, changed, accountId)
}

/** Stores the providers of a locked account in its row, and returns them. */
export async function storeProviders(tx: Tx, changed: ChangeSet, accountId: string): Promise<string[]> {
  changed.add('user', accountId)
  const { rows } = await sql<{ sign_in_providers: string[] }>`
    update account set sign_in_providers = array(
      select provider from account_provider where account_id = ${accountId} order by provider)
    where id = ${accountId} returning sign_in_providers`.execute(tx)
  return rows[0]?.sign_in_providers ?? []
}

const linkedElsewhere = (): ApiError => new ApiError('conflict', 'An account is already linked. Unlink it first.')
