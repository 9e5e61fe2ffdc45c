// Scheduled projects and versions whose time has come.
import type { Db } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

export type ReleaseDeps = Pick<Deps, 'db' | 'cache' | 'now' | 'config'>

/** Whether a locked row is still scheduled, and its time has come. */
export function isDue(
  row: { status: string; scheduled_at: Date | null; requested_status: string | null },
  nowMs: number,
): boolean {
  const { status, scheduled_at, requested_status } = row
  return status === 'scheduled' && requested_status !== null && scheduled_at !== null && scheduled_at.getTime() <= nowMs
}

/** IDs of what is due, the longest due first: its job was lost, or ran early by another clock. */
export async function listDue(db: Db, table: 'project' | 'version', now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom(table)
    .select('id')
    .where('status', '=', 'scheduled')
    .where('scheduled_at', '<=', now)
    .where('requested_status', 'is not', null)
    .orderBy('scheduled_at')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
