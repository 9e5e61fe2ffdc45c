// Rows of mirrors, of the origins of their copies, and of what could not be copied.
import { type Selectable, sql } from 'kysely'
import { newId } from '#lib/ids.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Mirror, Origin } from '#platform/db/schema.ts'
import type { CopyFailure } from './failures.ts'

export type MirrorRow = Selectable<Mirror>
export type OriginRow = Selectable<Origin>
export type Kind = 'project' | 'version'

/** Creates the row of a source with its first run, and returns it. */
export async function upsertMirror(
  db: Db,
  { address, organizationId, selection }: { address: string; organizationId: string; selection: string },
): Promise<MirrorRow> {
  await db
    .insertInto('mirror')
    .values({ id: newId(), address, organization_id: organizationId, selection })
    .onConflict((conflict) => conflict.column('address').doUpdateSet({ organization_id: organizationId }))
    .execute()
  return db.selectFrom('mirror').selectAll().where('address', '=', address).executeTakeFirstOrThrow()
}

export async function findMirror(db: Db, address: string): Promise<MirrorRow | undefined> {
  return db.selectFrom('mirror').selectAll().where('address', '=', address).executeTakeFirst()
}

/** Returns the origins of these objects by their IDs at the source. */
export async function listOrigins(
  db: Db,
  mirrorId: string,
  kind: Kind,
  remoteIds: readonly string[],
): Promise<Map<string, OriginRow>> {
  const rows = await db
    .selectFrom('origin')
    .selectAll()
    .where('mirror_id', '=', mirrorId)
    .where('kind', '=', kind)
    .where(sql<boolean>`remote_id = any(${[...remoteIds]}::text[])`)
    .execute()
  return new Map(rows.map((row) => [row.remote_id, row]))
}

/** Notes that the source had these objects in a comparison. */
export async function markSeen(
  db: Db,
  { id, pass }: Pick<MirrorRow, 'id' | 'pass'>,
  kind: Kind,
  remoteIds: readonly string[],
): Promise<void> {
  await sql`update origin set pass = ${pass} where mirror_id = ${id} and kind = ${kind} and pass <> ${pass}
    and remote_id = any(${[...remoteIds]}::text[])`.execute(db)
}

/** Returns up to `limit` objects that the source did not have in the comparison. */
export async function listMissing(
  db: Db,
  { id, pass }: Pick<MirrorRow, 'id' | 'pass'>,
  kind: Kind,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('origin')
    .select('remote_id')
    .where('mirror_id', '=', id)
    .where('kind', '=', kind)
    .where('pass', '<', pass)
    .limit(limit)
    .execute()
  return rows.map(({ remote_id }) => remote_id)
}

/** Returns the IDs at the source of listed copies in these projects that are not among `versions`. */
export async function listDropped(
  db: Db,
  mirrorId: string,
  { projects, versions }: { projects: readonly string[]; versions: readonly string[] },
): Promise<string[]> {
  const { rows } = await sql<{ remote_id: string }>`select copy.remote_id from origin parent
    join version on version.project_id = parent.project_id and is_listed(version.status)
    join origin copy on copy.version_id = version.id and copy.mirror_id = parent.mirror_id
    where parent.mirror_id = ${mirrorId} and parent.kind = 'project' and parent.remote_id = any(${[...projects]}::text[])
      and copy.remote_id <> all(${[...versions]}::text[])`.execute(db)
  return rows.map(({ remote_id }) => remote_id)
}

/** Remembers a project or a version that could not be copied. */
export async function rememberFailure(
  db: Db,
  mirrorId: string,
  { projectId, versionId = '', failure }: { projectId: string; versionId?: string; failure: CopyFailure },
): Promise<void> {
  const columns = { code: failure.code, message: failure.message.slice(0, 1000), last_attempt: new Date() }
  await db
    .insertInto('mirror_failure')
    .values({ mirror_id: mirrorId, remote_project_id: projectId, remote_version_id: versionId, ...columns })
    .onConflict((conflict) =>
      conflict
        .columns(['mirror_id', 'remote_project_id', 'remote_version_id'])
        .doUpdateSet({ ...columns, attempts: sql`mirror_failure.attempts + 1` }),
    )
    .execute()
}

/** Forgets the failures of versions that were copied, and of the project itself. */
export async function forgetFailures(
  tx: Tx,
  mirrorId: string,
  { projectId, versionIds }: { projectId: string; versionIds: readonly string[] },
): Promise<void> {
  await tx
    .deleteFrom('mirror_failure')
    .where('mirror_id', '=', mirrorId)
    .where('remote_project_id', '=', projectId)
    .where('remote_version_id', 'in', ['', ...versionIds])
    .execute()
}

/** Forgets projects and versions that could not be copied and that the source no longer has. */
export async function forgetRemoved(
  db: Db,
  mirrorId: string,
  { projects = [], versions = [] }: { projects?: readonly string[]; versions?: readonly string[] },
): Promise<void> {
  if (projects.length + versions.length === 0) return
  await sql`delete from mirror_failure where mirror_id = ${mirrorId} and (remote_project_id = any(${[...projects]}::text[])
    or remote_version_id = any(${[...versions]}::text[]))`.execute(db)
}

export type Retry = {
  /** Versions that were not copied or lack their files. */
  versions: string[]
  /** Whether the project itself or one of its images was not copied. */
  isProject: boolean
}

/** Returns the projects to try again. */
export async function listRetries(db: Db, mirrorId: string, withFiles: boolean): Promise<Map<string, Retry>> {
  const { rows } = await sql<{ project: string; versions: string[]; is_project: boolean }>`
    select project, coalesce(array_agg(distinct version) filter (where version <> ''), '{}') as versions,
      bool_or(version = '') as is_project from (
      select remote_project_id as project, remote_version_id as version from mirror_failure where mirror_id = ${mirrorId}
      union all
      select parent.remote_id, origin.remote_id from origin
        join version on version.id = origin.version_id
        join origin parent on parent.project_id = version.project_id and parent.mirror_id = origin.mirror_id
        where origin.mirror_id = ${mirrorId} and origin.lacks_files and ${withFiles}
    ) retry group by project order by project`.execute(db)
  return new Map(rows.map(({ project, versions, is_project }) => [project, { versions, isProject: is_project }]))
}

/** Returns which of these IDs no project or version has, and no slug of a project. */
export async function listFreeIds(db: Db, kind: Kind, ids: readonly string[]): Promise<Set<string>> {
  const table = sql.table(kind)
  const bySlug = kind === 'project' ? sql`or exists (select from project where slug = lower(wanted.id))` : sql``
  const { rows } = await sql<{ id: string }>`select wanted.id from unnest(${[...ids]}::text[]) as wanted (id)
    where not (exists (select from ${table} taken where taken.id = wanted.id) ${bySlug})`.execute(db)
  return new Set(rows.map(({ id }) => id))
}
