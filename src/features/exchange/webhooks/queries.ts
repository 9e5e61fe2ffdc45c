// Statements of webhooks.
import { type Selectable, sql } from 'kysely'
import { countRows, type Db, type Tx } from '#platform/db/db.ts'
import type { Webhook } from '#platform/db/schema.ts'

export type WebhookRow = Selectable<Webhook>

/** The columns that name the owner. */
export type OwnerColumns = Pick<WebhookRow, 'owner_kind' | 'project_id' | 'organization_id' | 'account_id'>

export function findWebhook(db: Db, id: string): Promise<WebhookRow | undefined> {
  return db.selectFrom('webhook').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Returns the row, locked until the transaction ends. */
export function lockWebhook(tx: Tx, id: string): Promise<WebhookRow | undefined> {
  return tx.selectFrom('webhook').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Returns the webhooks of an owner, oldest first. */
export function listWebhooksOf(db: Db, owner: OwnerColumns): Promise<WebhookRow[]> {
  return db
    .selectFrom('webhook')
    .selectAll()
    .where('owner_kind', '=', owner.owner_kind)
    .$if(owner.project_id !== null, (query) => query.where('project_id', '=', owner.project_id))
    .$if(owner.organization_id !== null, (query) => query.where('organization_id', '=', owner.organization_id))
    .$if(owner.account_id !== null, (query) => query.where('account_id', '=', owner.account_id))
    .orderBy('created')
    .orderBy('id')
    .execute()
}

/** Serialises the creation of webhooks until the transaction ends, so that parallel requests cannot exceed a limit. */
export async function lockCreation(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('depot.webhook'))`.execute(tx)
}

export function countWebhooksBy(tx: Tx, accountId: string): Promise<number> {
  return countRows(tx.selectFrom('webhook').where('created_by', '=', accountId))
}
