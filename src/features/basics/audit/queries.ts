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

/** Number of entries that a page searches for a text or for actions of staff, so that a page of a large log stays fast. */
const SEARCHED_MAX = 20_000

/**
 * Returns a page of the entries that match, newest first, and `before` of the next page. With a text or `isStaff`, the page can
 * have fewer entries than `limit`, although more follow: then the next page continues the search.
 */
export async function listEntryPage(
  db: Db,
  filter: AuditFilter,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<{ rows: AuditRow[]; next: number | null }> {
  const { text, isStaff = false, ...indexed } = filter
  const isSearch = text !== undefined || isStaff
  const edge = isSearch ? await findSearchEdge(db, indexed, before) : undefined
  const found = await selectEntries(db, filter)
    .$if(before !== undefined, (query) => query.where('audit_entry.id', '<', before ?? 0))
    .$if(edge !== undefined, (query) => query.where('audit_entry.id', '>=', edge ?? 0))
    .orderBy('audit_entry.id', 'desc')
    .limit(limit + 1)
    .execute()
  const rows = found.slice(0, limit)
  if (found.length > limit) return { rows, next: rows.at(-1)?.id ?? null }
  return { rows, next: edge ?? null }
}

/** Returns the ID of the last entry that a page searches, or undefined if fewer entries are left. */
async function findSearchEdge(db: Db, filter: AuditFilter, before: number | undefined): Promise<number | undefined> {
  const row = await selectFiltered(db, filter)
    .select('audit_entry.id')
    .$if(before !== undefined, (query) => query.where('audit_entry.id', '<', before ?? 0))
    .orderBy('audit_entry.id', 'desc')
    .offset(SEARCHED_MAX - 1)
    .limit(1)
    .executeTakeFirst()
  return row?.id
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
  return selectFiltered(db, filter)
    .selectAll('audit_entry')
    .select(['actor.username as actor_name', 'subject.username as subject_name'])
}

function selectFiltered(db: Db, filter: AuditFilter) {
  const { ofModeration = false, action, actorId, accountId, subject, since, until, text, isStaff = false } = filter
  const pattern = `%${text?.replace(/[\\%_]/g, (sign) => `\\${sign}`) ?? ''}%`
  return db
    .selectFrom('audit_entry')
    .leftJoin('account as actor', 'actor.id', 'audit_entry.actor_id')
    .leftJoin('account as subject', (join) =>
      join.onRef('subject.id', '=', 'audit_entry.subject_id').on('audit_entry.subject_kind', '=', 'user'),
    )
    .$if(isStaff, (query) =>
      query.where(sql<boolean>`(actor.role <> 'developer' or actor_kind in ('operator', 'command'))`),
    )
    .$if(text !== undefined, (query) =>
      query.where(sql<boolean>`concat_ws(' ', action, subject_kind, subject_id, address, actor.username, subject.username,
        details::text) ilike ${pattern}`),
    )
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
