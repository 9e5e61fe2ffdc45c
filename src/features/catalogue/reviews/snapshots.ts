// Snapshots of what moderators last saw of a project.
import { sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'
import { PROJECT_STATE, type ProjectState } from './state.ts'

/** `approval` replaces all others: after it, messages and submissions take no snapshot. */
export type SnapshotReason = 'approval' | 'message' | 'submission'

export type Snapshot = { reason: SnapshotReason; created: Date; state: ProjectState }

/** Number of snapshots of a project: the current one, and the one that an undone decision restores. */
const KEPT = 2

/**
 * Stores the current state of a project, and returns the ID of the snapshot. Returns null if the last snapshot stays: an
 * approval is only replaced by an approval.
 */
export async function takeSnapshot(
  tx: Tx,
  projectId: string,
  { reason, at }: { reason: SnapshotReason; at: Date },
): Promise<number | null> {
  const condition =
    reason === 'approval'
      ? sql`true`
      : sql`not exists (select 1 from project_snapshot where project_id = ${projectId} and reason = 'approval')`
  const { rows } = await sql<{ id: number }>`insert into project_snapshot (project_id, reason, created, state)
    select project.id, ${reason}, ${at}, ${PROJECT_STATE} from project where project.id = ${projectId} and ${condition}
    returning id`.execute(tx)
  const id = rows[0]?.id
  if (id === undefined) return null
  await sql`delete from project_snapshot where project_id = ${projectId} and id not in (
    select id from project_snapshot where project_id = ${projectId} order by id desc limit ${KEPT})`.execute(tx)
  return id
}

/** Returns the snapshot with which a project is compared, or undefined if it has none. */
export function findSnapshot(db: Db, projectId: string): Promise<Snapshot | undefined> {
  return db
    .selectFrom('project_snapshot')
    .select((eb) => [
      eb.ref('reason').$castTo<SnapshotReason>().as('reason'),
      'created',
      eb.ref('state').$castTo<ProjectState>().as('state'),
    ])
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Returns the current state of a project, or undefined if it does not exist. */
export async function findState(db: Db, projectId: string): Promise<ProjectState | undefined> {
  const row = await db
    .selectFrom('project')
    .select(PROJECT_STATE.as('state'))
    .where('id', '=', projectId)
    .executeTakeFirst()
  return row?.state
}
