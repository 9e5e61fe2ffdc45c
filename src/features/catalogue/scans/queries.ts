// Rows of scans.

import { type RawBuilder, type Selectable, sql, type Updateable } from 'kysely'
import { MINUTE_MS } from '#lib/time.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { VersionScan } from '#platform/db/schema.ts'
import type { Verdict } from '#ports/scanner/scanner.ts'

export type ScanState = 'pending' | Verdict

/** The verdict on one file. */
export type Finding = { file_id: string; filename: string; verdict: Verdict; reason: string | null }

export type ScanRow = Omit<Selectable<VersionScan>, 'state' | 'findings'> & { state: ScanState; findings: Finding[] }

export type FileToScan = { id: string; filename: string; sha512: string; storage_key: string; project_id: string }

function readScans(db: Db) {
  return db
    .selectFrom('version_scan')
    .selectAll('version_scan')
    .select((eb) => [
      eb.ref('version_scan.state').$castTo<ScanState>().as('state'),
      eb.ref('version_scan.findings').$castTo<Finding[]>().as('findings'),
    ])
}

export function findScan(db: Db, versionId: string): Promise<ScanRow | undefined> {
  return readScans(db).where('version_id', '=', versionId).executeTakeFirst()
}

/** Returns the row, locked until the transaction ends. */
export function lockScan(tx: Tx, versionId: string): Promise<ScanRow | undefined> {
  return readScans(tx).where('version_id', '=', versionId).forUpdate().executeTakeFirst()
}

/** Time of the lease in addition to the scanner's timeout for each file. */
const LEASE_MS = MINUTE_MS

/** Leases a scan for the time that the scanner can need. Returns undefined if the scan is not due or not pending. */
export async function claimScan(
  db: Db,
  versionId: string,
  { now, timeoutMs }: { now: Date; timeoutMs: number },
): Promise<{ round: number; attempts: number } | undefined> {
  const { rows } = await sql<{ round: number; attempts: number }>`
    update version_scan set next_attempt = ${now}::timestamptz + interval '1 millisecond' * (
      ${LEASE_MS}::bigint + ${timeoutMs}::bigint * (select count(*) from file where file.version_id = ${versionId}))
    where version_id = ${versionId} and state = 'pending' and next_attempt <= ${now}
    returning round, attempts`.execute(db)
  return rows[0]
}

/** Updates a scan if it is still pending for this set of files (`round`). Returns whether it was. */
export async function settleScan(
  tx: Db,
  { versionId, round }: { versionId: string; round: number },
  change: Updateable<VersionScan>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('version_scan')
    .set(change)
    .where('version_id', '=', versionId)
    .where('round', '=', round)
    .where('state', '=', 'pending')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function listFilesToScan(db: Db, versionId: string): Promise<FileToScan[]> {
  return db
    .selectFrom('file')
    .innerJoin('version', 'version.id', 'file.version_id')
    .select(['file.id', 'file.filename', 'file.sha512', 'file.storage_key', 'version.project_id'])
    .where('file.version_id', '=', versionId)
    .orderBy('file.filename')
    .execute()
}

/** Returns the IDs of versions whose scan is due, longest waiting first. */
export async function listDueScans(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('version_scan')
    .select('version_id')
    .where('state', '=', 'pending')
    .where('next_attempt', '<=', now)
    .orderBy('next_attempt')
    .limit(limit)
    .execute()
  return rows.map(({ version_id }) => version_id)
}

export type ListedScan = ScanRow & {
  project_id: string
  project_name: string
  project_slug: string
  version_number: string
  version_status: string
}

type ScanFilter = {
  /** Part of the name or slug of the project; empty to match all. */
  text: string
}

/** Returns the number of scans in each state that match the filter. */
export async function countScans(db: Db, { text }: ScanFilter): Promise<Record<ScanState, number>> {
  const rows = await db
    .selectFrom('version_scan')
    .$if(text !== '', (query) => query.where(isOfProject(text)))
    .select((eb) => ['version_scan.state', eb.fn.countAll<number>().as('total')])
    .groupBy('version_scan.state')
    .execute()
  const counts: Record<ScanState, number> = { pending: 0, pass: 0, warn: 0, quarantine: 0 }
  for (const { state, total } of rows) counts[state as ScanState] = total
  return counts
}

/** Returns a page of the scans in one state, longest waiting first. */
export function listScans(
  db: Db,
  { state, count, offset, text }: ScanFilter & { state: ScanState; count: number; offset: number },
): Promise<ListedScan[]> {
  return readScans(db)
    .innerJoin('version', 'version.id', 'version_scan.version_id')
    .innerJoin('project', 'project.id', 'version.project_id')
    .select(['version.project_id', 'project.name as project_name', 'project.slug as project_slug'])
    .select(['version.version_number', 'version.status as version_status'])
    .where('version_scan.state', '=', state)
    .$if(text !== '', (query) => query.where(isOfProject(text)))
    .orderBy('version_scan.requested')
    .orderBy('version_scan.version_id')
    .limit(count)
    .offset(offset)
    .execute()
}

/** SQL condition: whether the name or slug of the project of `version_scan` contains the text, in any case. */
function isOfProject(text: string): RawBuilder<boolean> {
  const pattern = `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`
  return sql<boolean>`exists (select 1 from version found join project on project.id = found.project_id
    where found.id = version_scan.version_id and (project.name ilike ${pattern} or project.slug ilike ${pattern}))`
}

/** A version that has not passed the scan, as an entry of the moderation queue shows it. */
export type QueuedScan = {
  version_id: string
  version_number: string
  state: Exclude<ScanState, 'pass'>
  reason: string | null
}

/** SQL expression: whether `project` has versions, and a scanner has passed the files of each. */
export const ALL_PASSED = sql<boolean>`coalesce((select bool_and(scan.state is not distinct from 'pass')
  from version left join version_scan scan on scan.version_id = version.id
  where version.project_id = project.id and not version.is_new_draft), false)`

/** SQL expression: the versions of `project` that have not passed the scan, at most 50, as JSON. */
export const SCANS_OF_PROJECT = sql<
  QueuedScan[]
>`(select coalesce(jsonb_agg(jsonb_build_object('version_id', scan.version_id, 'version_number', scan.version_number,
    'state', scan.state, 'reason', scan.reason) order by scan.requested, scan.version_id), '[]')
  from (
    select version_scan.*, version.version_number from version_scan join version on version.id = version_scan.version_id
    where version.project_id = project.id and version_scan.state <> 'pass'
    order by version_scan.requested, version_scan.version_id limit 50) scan)`
