// Queries of the audit log, and its retention.
import { type Selectable, sql } from 'kysely'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { AuditEntry } from '#platform/db/schema.ts'
import { MODERATOR_ACTIONS, SHARED_ACTIONS } from './actions.ts'
import type { AuditFilter } from './requests.ts'

/** An entry with the current usernames of its actor and its subject, if these are accounts. */
export type AuditRow = Selectable<AuditEntry> & { actor_name: string | null; subject_name: string | null }

/** Returns the entries that match the filter, newest first; `before` is the last ID of the previous page. */
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

/** Returns the entries that match the filter and follow the entry `after`, oldest first. */
export function listEntriesAfter(
  db: Db,
  filter: AuditFilter,
  { after, limit }: { after: number; limit: number },
): Promise<AuditRow[]> {
  return selectEntries(db, filter).where('audit_entry.id', '>', after).orderBy('audit_entry.id').limit(limit).execute()
}

function selectEntries(db: Db, filter: AuditFilter) {
  const { ofModeration = false, action, actorId, accountId, subject, since, until } = filter
  return db
    .selectFrom('audit_entry')
    .leftJoin('account as actor', 'actor.id', 'audit_entry.actor_id')
    .leftJoin('account as subject', (join) =>
      join.onRef('subject.id', '=', 'audit_entry.subject_id').on('audit_entry.subject_kind', '=', 'user'),
    )
    .selectAll('audit_entry')
    .select(['actor.username as actor_name', 'subject.username as subject_name'])
    .$if(ofModeration, (query) =>
      query.where((eb) =>
        eb.or([
          eb('action', 'in', [...MODERATOR_ACTIONS]),
          eb.and([eb('action', 'in', [...SHARED_ACTIONS]), sql<boolean>`actor.role is distinct from 'developer'`]),
        ]),
      ),
    )
    .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
    .$if(actorId !== undefined, (query) => query.where('actor_id', '=', actorId ?? ''))
    .$if(accountId !== undefined, (query) => query.where(sql<boolean>`account_ids @> ${[accountId ?? '']}::text[]`))
    .$if(subject?.kind !== undefined, (query) => query.where('subject_kind', '=', subject?.kind ?? ''))
    .$if(subject?.id !== undefined, (query) => query.where('subject_id', '=', subject?.id ?? ''))
    .$if(since !== undefined, (query) => query.where('at', '>=', since ?? new Date(0)))
    .$if(until !== undefined, (query) => query.where('at', '<', until ?? new Date(0)))
}

/** Allows the rest of the transaction to change and delete entries. */
export async function allowMaintenance(tx: Tx): Promise<void> {
  await sql`select set_config('depot.audit_maintenance', 'on', true)`.execute(tx)
}

/**
 * Replaces an account by the placeholder in all entries before it is deleted. Removes its IP addresses and tokens, and
 * the details of entries about it, because these can contain personal data.
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

/** Removes the IP addresses of at most `limit` entries older than `before`; returns their number. */
export async function dropAddresses(tx: Tx, before: Date, limit: number): Promise<number> {
  const result = await sql`update audit_entry set address = null where id in (
    select id from audit_entry where address is not null and at < ${before} limit ${limit})`.execute(tx)
  return Number(result.numAffectedRows ?? 0)
}

/** Deletes at most `limit` entries older than `before`; returns their number. */
export async function deleteEntries(tx: Tx, before: Date, limit: number): Promise<number> {
  const result = await sql`delete from audit_entry where id in (
    select id from audit_entry where at < ${before} limit ${limit})`.execute(tx)
  return Number(result.numAffectedRows ?? 0)
}
