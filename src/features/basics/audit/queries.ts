// Reads of the audit log, and what is taken out of it in time.
import { type Selectable, sql } from 'kysely'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { AuditEntry } from '#platform/db/schema.ts'
import type { AuditFilter } from './requests.ts'

/** An entry with the names that its actor and its subject have now, where these are accounts. */
export type AuditRow = Selectable<AuditEntry> & { actor_name: string | null; subject_name: string | null }

/** Entries by filter, the newest first; `before` is the ID of the last entry of the page before. */
export function listEntries(
  db: Db,
  filter: AuditFilter,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<AuditRow[]> {
  return selectEntries(db, filter)
    .$if(before !== undefined, (query) => query.where('audit_entry.id', '<', before ?? 0))
    .orderBy('audit_entry.id', 'desc')
    .limit(limit)
    .execute()
}

/** Entries of one export, the oldest first: at most `limit` that follow the entry `after`. */
export function listEntriesAfter(
  db: Db,
  filter: AuditFilter,
  { after, limit }: { after: number; limit: number },
): Promise<AuditRow[]> {
  return selectEntries(db, filter).where('audit_entry.id', '>', after).orderBy('audit_entry.id').limit(limit).execute()
}

function selectEntries(db: Db, filter: AuditFilter) {
  const { action, actorId, accountId, subject, since, until } = filter
  return db
    .selectFrom('audit_entry')
    .leftJoin('account as actor', 'actor.id', 'audit_entry.actor_id')
    .leftJoin('account as subject', (join) =>
      join.onRef('subject.id', '=', 'audit_entry.subject_id').on('audit_entry.subject_kind', '=', 'user'),
    )
    .selectAll('audit_entry')
    .select(['actor.username as actor_name', 'subject.username as subject_name'])
    .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
    .$if(actorId !== undefined, (query) => query.where('actor_id', '=', actorId ?? ''))
    .$if(accountId !== undefined, (query) => query.where(sql<boolean>`account_ids @> ${[accountId ?? '']}::text[]`))
    .$if(subject?.kind !== undefined, (query) => query.where('subject_kind', '=', subject?.kind ?? ''))
    .$if(subject?.id !== undefined, (query) => query.where('subject_id', '=', subject?.id ?? ''))
    .$if(since !== undefined, (query) => query.where('at', '>=', since ?? new Date(0)))
    .$if(until !== undefined, (query) => query.where('at', '<', until ?? new Date(0)))
}

/** Lets the rest of the transaction take things out of the log. */
export async function allowMaintenance(tx: Tx): Promise<void> {
  await sql`select set_config('depot.audit_maintenance', 'on', true)`.execute(tx)
}

/**
 * The placeholder stands for an account that is about to go: in what it did, in what was done to it, and in what else
 * is about it. Its addresses and tokens go; details of entries about it go too, since they may quote somebody.
 */
export async function forgetAccount(tx: Tx, accountId: string): Promise<void> {
  await allowMaintenance(tx)
  await sql`update audit_entry set
      address = case when actor_id = ${accountId} or actor_kind = 'anonymous' then null else address end,
      token_kind = case when actor_id = ${accountId} then null else token_kind end,
      token_id = case when actor_id = ${accountId} then null else token_id end,
      actor_id = case when actor_id = ${accountId} then ${PLACEHOLDER_ID} else actor_id end,
      details = case when subject_kind = 'user' and subject_id = ${accountId} then '{}'::jsonb else details end,
      subject_id = case when subject_kind = 'user' and subject_id = ${accountId} then ${PLACEHOLDER_ID} else subject_id end,
      account_ids = array_replace(account_ids, ${accountId}, ${PLACEHOLDER_ID})
    where account_ids @> ${[accountId]}::text[]`.execute(tx)
  await sql`select set_config('depot.audit_maintenance', '', true)`.execute(tx)
}

/** Drops the addresses of entries older than `before`, at most `limit`; returns how many. */
export async function dropAddresses(tx: Tx, before: Date, limit: number): Promise<number> {
  const result = await sql`update audit_entry set address = null where id in (
    select id from audit_entry where address is not null and at < ${before} limit ${limit})`.execute(tx)
  return Number(result.numAffectedRows ?? 0)
}

/** Deletes entries older than `before`, at most `limit`; returns how many. */
export async function deleteEntries(tx: Tx, before: Date, limit: number): Promise<number> {
  const result = await sql`delete from audit_entry where id in (
    select id from audit_entry where at < ${before} limit ${limit})`.execute(tx)
  return Number(result.numAffectedRows ?? 0)
}
