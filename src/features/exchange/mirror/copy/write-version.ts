// Writes the rows of a copied version.
import { sql } from 'kysely'
import type { StoredOrigin } from '#features/basics/access/origin.ts'
import type { VersionStatus } from '#features/basics/access/version-status.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { freeContents } from '#features/catalogue/contents/content-owners.ts'
import type { ProjectRow } from '#features/catalogue/projects/queries.ts'
import { admitStatus, holdForScan } from '#features/catalogue/versions/lifecycle/scan-gate.ts'
import { recordVersionStatus } from '#features/catalogue/versions/lifecycle/show-version.ts'
import { insertDependencies } from '#features/catalogue/versions/publish/dependencies.ts'
import { insertFiles } from '#features/catalogue/versions/publish/insert-version.ts'
import type { VersionRow } from '#features/catalogue/versions/queries.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Tx } from '#platform/db/db.ts'
import { removeLater } from '#ports/files/claims.ts'
import { type ImportedVersion, insertImportedVersion, versionColumns } from '../../import/write-version.ts'
import { CopyFailure } from '../failures.ts'
import { revisionOf } from '../revision.ts'
import type { MirrorRun } from './context.ts'
import { type OpenDependency, resolveRemote, sameList } from './dependencies.ts'
import type { PreparedVersion } from './prepare-versions.ts'

export type VersionWrite = {
  run: MirrorRun
  /** The project with its present status. */
  project: Pick<ProjectRow, 'id' | 'status'>
  version: PreparedVersion
  origin: Omit<StoredOrigin, 'status' | 'mirror'>
  dependencies: readonly OpenDependency[]
}

/** Inserts or updates a version with its files, and returns whether it is new. */
export async function writeVersion(tx: Tx, changed: ChangeSet, write: VersionWrite): Promise<boolean> {
  const { run, project, version } = write
  const { id, files } = version
  const row = await tx.selectFrom('version').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
  // An ID that is free can be taken in the meantime.
  if (row !== undefined && version.origin === undefined)
    throw new CopyFailure('refused', `the ID ${id} was taken during the download`)
  if (row === undefined) {
    const owner = { project, authorId: run.owner.accountId, files, origin: storedOrigin(write) }
    await insertImportedVersion(tx, run.deps, { ...importedOf(write), ...owner })
  } else {
    await updateRow(tx, write, row)
    await insertFiles(tx, { versionId: id, projectId: project.id, files })
    if (run.withFiles) await alignFiles(tx, write)
    const { scanner } = run.deps.config
    if (files.length > 0) await holdForScan(tx, row, { scanner, now: run.deps.now() })
  }
  await writeDependencies(tx, write)
  await setDownloads(tx, 'version', id, version.remote.downloads)
  changed.add('version', id)
  return row === undefined
}

function importedOf({ run, version: { id, parsed, remote } }: VersionWrite): ImportedVersion {
  const { withdrawn } = remote
  const at = new Date(run.deps.now())
  return {
    id,
    version: parsed,
    published: parsed.published,
    withdrawn: withdrawn == null ? null : { ...withdrawn, at },
  }
}

const storedOrigin = ({ run, origin, version }: VersionWrite): string =>
  JSON.stringify({ ...origin, mirror: run.mirror.id, status: version.remote.status } satisfies StoredOrigin)

/** A status that somebody has changed here remains. */
async function updateRow(tx: Tx, write: VersionWrite, row: VersionRow): Promise<void> {
  const { run, project, version } = write
  const before = row.origin as unknown as StoredOrigin | null
  const wanted = version.parsed.status
  const follows = before?.status === row.status && wanted !== row.status
  const gate = { scanner: run.deps.config.scanner, now: run.deps.now() }
  const columns = follows ? await admitStatus(tx, { id: row.id, from: row.status, wanted }, gate) : undefined
  await tx
    .updateTable('version')
    .set({ ...versionColumns(importedOf(write)), ...columns, origin: storedOrigin(write) })
    .where('id', '=', row.id)
    .execute()
  if (columns !== undefined) await recordCopiedStatus(tx, { project, version: row }, columns.status)
}

/** Records a status that has changed at the source. Called after the change. */
export async function recordCopiedStatus(
  tx: Tx,
  { project, version }: { project: Pick<ProjectRow, 'id' | 'status'>; version: Pick<VersionRow, 'id' | 'status'> },
  to: VersionStatus,
): Promise<void> {
  const { id, status: from } = version
  const details = { from, to, project: project.id }
  await recordAudit(tx, { action: 'version.status_changed', actor: COMMAND, subject: { kind: 'version', id }, details })
  await recordVersionStatus(tx, { project, versionId: id, from, to })
}

/** Removes files that the source has removed, and follows the types and the primary file of the others. */
async function alignFiles(tx: Tx, { project, version: { id, remote } }: VersionWrite): Promise<void> {
  const wanted = new Map(remote.files.map((file) => [file.hashes.sha512, file]))
  const rows = await tx
    .selectFrom('file')
    .select(['id', 'sha512', 'storage_key', 'is_primary', 'file_type'])
    .where('version_id', '=', id)
    .execute()
  const gone = rows.filter(({ sha512 }) => !wanted.has(sha512))
  if (gone.length > 0) {
    const fileIds = gone.map((file) => file.id)
    await tx.deleteFrom('file').where('id', 'in', fileIds).execute()
    const hashes = gone.map(({ sha512 }) => sha512)
    await freeContents(tx, project.id, hashes)
    const keys = gone.map(({ storage_key }) => storage_key)
    await removeLater(tx, keys)
  }
  for (const { id: fileId, sha512, is_primary, file_type } of rows) {
    const file = wanted.get(sha512)
    if (file === undefined || (file.primary === is_primary && (file.file_type ?? null) === file_type)) continue
    const columns = { is_primary: file.primary, file_type: file.file_type ?? null }
    await tx.updateTable('file').set(columns).where('id', '=', fileId).execute()
  }
}

async function writeDependencies(tx: Tx, { run, version, dependencies }: VersionWrite): Promise<void> {
  const { id, remote, origin, lacksFiles } = version
  const { resolved, isComplete } = await resolveRemote(tx, run.mirror.id, { versionId: id, dependencies })
  const present = await tx
    .selectFrom('dependency')
    .select(['project_id', 'version_id', 'file_name', 'dependency_type', 'declared_id'])
    .where('dependent_id', '=', id)
    .orderBy('id')
    .execute()
  if (!sameList(present, resolved)) {
    await tx.deleteFrom('dependency').where('dependent_id', '=', id).execute()
    await insertDependencies(tx, id, resolved)
  }
  const columns = {
    version_id: id,
    remote_revision: revisionOf(remote.json),
    pass: run.mirror.pass,
    lacks_files: lacksFiles || (origin?.lacks_files === true && !run.withFiles),
    unresolved: isComplete ? null : JSON.stringify(dependencies),
  }
  await tx
    .insertInto('origin')
    .values({ mirror_id: run.mirror.id, kind: 'version', remote_id: remote.id, ...columns })
    .onConflict((conflict) => conflict.columns(['mirror_id', 'kind', 'remote_id']).doUpdateSet(columns))
    .execute()
}

/** Sets the replacements of withdrawn versions of a project, which are other versions of the same mirror. */
export async function setReplacements(
  tx: Tx,
  { run, versions }: { run: MirrorRun; versions: readonly PreparedVersion[] },
): Promise<void> {
  for (const { id, remote } of versions) {
    const replacement = remote.withdrawn?.replacement
    if (replacement == null) continue
    await sql`update version set withdrawn_replacement = other.id from origin join version other on other.id = origin.version_id
      where version.id = ${id} and origin.mirror_id = ${run.mirror.id} and origin.kind = 'version'
        and origin.remote_id = ${replacement} and other.project_id = version.project_id and other.id <> version.id`.execute(
      tx,
    )
  }
}

/** Replaces the copied part of a download count. A statement that changes a counter must change nothing else. */
export async function setDownloads(tx: Tx, table: 'project' | 'version', id: string, imported: number): Promise<void> {
  await sql`update ${sql.table(table)} set downloads = greatest(0, downloads - imported_downloads + ${imported}),
    imported_downloads = ${imported} where id = ${id} and imported_downloads <> ${imported}`.execute(tx)
}
