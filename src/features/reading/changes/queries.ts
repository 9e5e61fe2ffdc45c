// Statements of the change feed (`migrations/0020_feed_public_changes.sql`).
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { Cursor } from './cursor.ts'
import type { ChangeKind } from './requests.ts'

export type ChangeRow = {
  /** A bigint as text. */
  number: string
  kind: ChangeKind
  id: string
  project_id: string | null
  is_present: boolean
  revision: number
  changed: string
}

/** The state of the feed. Numbers are bigints as text. */
export type Head = { epoch: string; last: string; forgotten: string }

const BATCH = 1000

/** Assigns numbers to changes that have none. Returns false if nothing was left to do. */
export async function numberChanges(db: Db): Promise<boolean> {
  const { rows } = await sql<{ numbered: boolean }>`select number_public_changes(${BATCH}) as numbered`.execute(db)
  return rows[0]?.numbered ?? false
}

/**
 * Returns the state of the feed, and the changes after a cursor by number: at most `limit`. `hasNotes`: whether committed
 * changes have no number yet. A walk from the start omits what was removed before it began.
 */
export async function readChanges(
  db: Db,
  { since, kinds, limit }: { since: Cursor | undefined; kinds: readonly ChangeKind[]; limit: number },
): Promise<{ head: Head; rows: ChangeRow[]; hasNotes: boolean }> {
  const after = String(since?.number ?? 0)
  const walkedFrom = since === undefined ? sql`head.last` : sql`${String(since.walkedFrom ?? 0)}::bigint`
  const { rows } = await sql<Head & { rows: ChangeRow[]; hasNotes: boolean }>`
    select head.epoch, head.last::text, head.forgotten::text, exists (select from public_change_note) as "hasNotes",
      coalesce((
        select json_agg(json_build_object('number', page.number::text, 'kind', page.kind, 'id', page.subject_id,
          'project_id', page.project_id, 'is_present', page.is_present, 'revision', page.revision,
          'changed', to_char(page.changed at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by page.number)
        from (
          select change.* from unnest(${kinds}::text[]) as wanted (kind)
          cross join lateral (
            select * from public_change
            where public_change.kind = wanted.kind and public_change.number > ${after}::bigint
              and (public_change.is_present or public_change.number > ${walkedFrom})
            order by public_change.number limit ${limit}) change
          order by change.number limit ${limit}) page), '[]') as rows
    from public_change_head head`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('The change feed has no head')
  const { rows: changes, hasNotes, ...head } = row
  return { head, rows: changes, hasNotes }
}

/** Returns the cursor of the newest change. */
export async function readNewest(db: Db): Promise<string> {
  const { rows } = await sql<{ newest: string }>`select epoch || '-' || last as newest from public_change_head`.execute(
    db,
  )
  return rows[0]?.newest ?? ''
}

/** Deletes removals from before a time. Cursors before the last of them become invalid. */
export async function forgetRemovals(db: Db, before: Date): Promise<void> {
  await sql`
    with head as (select from public_change_head for update), gone as (
      delete from public_change using head where not is_present and changed < ${before} returning number
    )
    update public_change_head set forgotten = greatest(forgotten, (select max(number) from gone))
    where exists (select from gone)`.execute(db)
}
