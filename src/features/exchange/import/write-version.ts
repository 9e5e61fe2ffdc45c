// Writes the rows of versions that come from elsewhere: from a mirror, a folder or a pack.
import { COMMAND } from '#features/basics/audit/actor.ts'
import type { ProjectRow } from '#features/catalogue/projects/queries.ts'
import { firstStatus, requestScan } from '#features/catalogue/versions/lifecycle/scan-gate.ts'
import { recordVersionStatus } from '#features/catalogue/versions/lifecycle/show-version.ts'
import type { ResolvedDependency } from '#features/catalogue/versions/publish/dependencies.ts'
import { insertFiles, insertVersionRow } from '#features/catalogue/versions/publish/insert-version.ts'
import type { PreparedFile } from '#features/catalogue/versions/publish/prepare-files.ts'
import type { NewVersion } from '#features/catalogue/versions/publish/requests.ts'
import type { VersionRow } from '#features/catalogue/versions/queries.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'

export type ImportedVersion = {
  id: string
  version: NewVersion
  published: Date
  /** `at`: ISO 8601. The replacement follows when all versions are written. */
  withdrawn: { kind: NonNullable<VersionRow['withdrawn_kind']>; reason: string; at: string | Date } | null
}

/** Returns the columns that an import writes and that a later run of a mirror updates. */
export function versionColumns({ version, published, withdrawn }: ImportedVersion) {
  return {
    withdrawn_kind: withdrawn?.kind ?? null,
    withdrawn_reason: withdrawn?.reason ?? null,
    withdrawn_replacement: null,
    withdrawn_at: withdrawn === null ? null : new Date(withdrawn.at),
    ...version.columns,
    fields: JSON.stringify(version.fields),
    date_published: published,
  }
}

/** Inserts a version with its files, and hides it until its scan. */
export async function insertImportedVersion(
  tx: Tx,
  { config: { scanner }, now }: Pick<Deps, 'config' | 'now'>,
  imported: ImportedVersion & {
    project: Pick<ProjectRow, 'id' | 'status'>
    authorId: string
    files: readonly PreparedFile[]
    /** JSON of a `StoredOrigin`. */
    origin?: string
  },
): Promise<void> {
  const { id, version, project, authorId, files, origin = null } = imported
  const first = firstStatus(version.status, scanner)
  const row = { id, project_id: project.id, author_id: authorId, ...versionColumns(imported), ...first, origin }
  await insertVersionRow(tx, COMMAND, row, version.status)
  await insertFiles(tx, { versionId: id, projectId: project.id, files })
  if (first.status === 'listed') await recordVersionStatus(tx, { project, versionId: id, from: 'draft', to: 'listed' })
  if (files.length > 0 && scanner.kind !== 'none') await requestScan(tx, id, { now: now(), shownBefore: false })
}

/** Returns the dependencies in this order, the last of those on the same place. */
export function distinctDependencies(dependencies: readonly ResolvedDependency[]): ResolvedDependency[] {
  const placeOf = ({ project_id, version_id, file_name }: ResolvedDependency) =>
    JSON.stringify([project_id, version_id, file_name])
  return [...new Map(dependencies.map((dependency) => [placeOf(dependency), dependency])).values()]
}
