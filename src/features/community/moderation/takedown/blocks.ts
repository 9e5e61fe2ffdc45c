// Queries for the contents that takedowns block.
import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Takedown, TakedownKind } from './requests.ts'

type Target = Pick<Takedown, 'kind' | 'id' | 'projects'>

/** Condition on a row of `file` joined with `version`: it belongs to the content. */
function isOf({ kind, id, projects }: Target) {
  const of: Partial<Record<TakedownKind, SqlCondition>> = {
    project: sql`version.project_id = ${id}`,
    version: sql`version.id = ${id}`,
    file: sql`file.sha512 = ${id}`,
  }
  const chosen = projects === undefined ? sql`true` : sql`version.project_id = any(${projects}::text[])`
  return sql<SqlBool>`${of[kind] ?? sql`false`} and ${chosen}`
}
type SqlCondition = ReturnType<typeof sql>

/** Returns the number of different contents that the files of the content have. */
export async function countContents(db: Db, target: Target): Promise<number> {
  const { count } = await db
    .selectFrom('file')
    .innerJoin('version', 'version.id', 'file.version_id')
    .select(sql<number>`count(distinct file.sha512)`.as('count'))
    .where(isOf(target))
    .executeTakeFirstOrThrow()
  return count
}

/** Blocks the contents of the files of the content. Those that are blocked already belong to the earlier takedown. */
export async function blockContents(
  tx: Tx,
  { takedownId, target, now }: { takedownId: string; target: Target; now: Date },
): Promise<void> {
  await sql`insert into blocked_content (sha512, takedown_id, filename, size_bytes, created)
    select distinct on (file.sha512) file.sha512, ${takedownId}, file.filename, file.size_bytes, ${now}::timestamptz
    from file join version on version.id = file.version_id where ${isOf(target)}
    order by file.sha512, file.id on conflict do nothing`.execute(tx)
}

/**
 * Ends the ownership of the contents of the files, so that other projects can publish them. If the takedown is undone, the
 * project owns them again unless another project has published them.
 */
export async function releaseContents(tx: Tx, target: Target): Promise<void> {
  await sql`delete from file_content owned using file join version on version.id = file.version_id
    where owned.sha512 = file.sha512 and owned.project_id = version.project_id and ${isOf(target)}`.execute(tx)
}

export type BlockedFile = {
  sha512: string
  filename: string
  size_bytes: number
  takedown_id: string
  reason: string
  created: Date
}

/** Returns blocked contents, newest first: of one takedown, or all. */
export function listBlockedFiles(
  db: Db,
  { takedownId, limit, offset = 0 }: { takedownId?: string; limit: number; offset?: number },
): Promise<BlockedFile[]> {
  return db
    .selectFrom('blocked_content')
    .innerJoin('takedown', 'takedown.id', 'blocked_content.takedown_id')
    .select(['sha512', 'filename', 'size_bytes', 'takedown_id', 'takedown.reason', 'blocked_content.created'])
    .$if(takedownId !== undefined, (query) => query.where('takedown_id', '=', takedownId ?? ''))
    .orderBy('blocked_content.created', 'desc')
    .orderBy('filename')
    .orderBy('sha512')
    .limit(limit)
    .offset(offset)
    .execute()
}

/** Returns the number of blocked contents: of one takedown, or all. */
export async function countBlockedFiles(db: Db, takedownId?: string): Promise<number> {
  const { count } = await db
    .selectFrom('blocked_content')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .$if(takedownId !== undefined, (query) => query.where('takedown_id', '=', takedownId ?? ''))
    .executeTakeFirstOrThrow()
  return count
}

/** Returns the versions whose files the takedown blocks, or those with one content: their pages change with the block. */
export async function listBlockedVersions(
  tx: Tx,
  { takedownId, sha512 }: { takedownId?: string; sha512?: string },
): Promise<string[]> {
  const rows = await tx
    .selectFrom('file')
    .select('version_id')
    .distinct()
    .$if(sha512 !== undefined, (query) => query.where('sha512', '=', sha512 ?? ''))
    .$if(takedownId !== undefined, (query) =>
      query.where('sha512', 'in', (eb) =>
        eb
          .selectFrom('blocked_content')
          .select('sha512')
          .where('takedown_id', '=', takedownId ?? ''),
      ),
    )
    .execute()
  return rows.map(({ version_id }) => version_id)
}
