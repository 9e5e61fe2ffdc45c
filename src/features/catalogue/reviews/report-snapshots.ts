// The state of reported items at the time of the report.
import { sql } from 'kysely'
import type { Db, Tx } from '#platform/db/db.ts'
import {
  PROJECT_STATE,
  type ProjectState,
  USER_STATE,
  type UserState,
  VERSION_STATE,
  type VersionState,
} from './state.ts'

/** The state of a reported item, by its type. */
export type ItemState = ProjectState | VersionState | UserState

/** SQL expression: the current state of the item of `report`; null if it was deleted. */
const ITEM_STATE = sql<ItemState | null>`case report.item_type
  when 'project' then (select ${PROJECT_STATE} from project where project.id = report.project_id)
  when 'version' then (select ${VERSION_STATE} from version where version.id = report.version_id)
  else (select ${USER_STATE} from account where account.id = report.account_id) end`

/** Stores the current state of the reported item. */
export async function insertReportSnapshot(tx: Tx, reportId: string): Promise<void> {
  await sql`insert into report_snapshot (report_id, state)
    select id, state from (select report.id, ${ITEM_STATE} as state from report where report.id = ${reportId}) item
    where state is not null`.execute(tx)
}

/** Returns the state of the reported item at the time of the report and now; null if unknown or deleted. */
export async function findReportedStates(
  db: Db,
  reportId: string,
): Promise<{ before: ItemState | null; now: ItemState | null } | undefined> {
  return db
    .selectFrom('report')
    .leftJoin('report_snapshot', 'report_snapshot.report_id', 'report.id')
    .select((eb) => [eb.ref('report_snapshot.state').$castTo<ItemState | null>().as('before'), ITEM_STATE.as('now')])
    .where('report.id', '=', reportId)
    .executeTakeFirst()
}
