// Resolves dependencies of copies whose targets were copied later.
import { insertDependencies } from '#features/catalogue/versions/publish/dependencies.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { MirrorRun } from './context.ts'
import { type OpenDependency, resolveRemote, sameList } from './dependencies.ts'

const BATCH = 200
const WARNINGS_MAX = 100

/**
 * Resolves dependencies again whose targets were copied after the version. Warns of those that remain open.
 */
export async function resolveOpen(run: MirrorRun): Promise<void> {
  const { deps, mirror, warn } = run
  let after = ''
  let open = 0
  for (;;) {
    const rows = await deps.db
      .selectFrom('origin')
      .select(['remote_id', 'version_id', 'unresolved'])
      .where('mirror_id', '=', mirror.id)
      .where('kind', '=', 'version')
      .where('unresolved', 'is not', null)
      .where('remote_id', '>', after)
      .orderBy('remote_id')
      .limit(BATCH)
      .execute()
    for (const { remote_id, version_id, unresolved } of rows) {
      if (version_id === null) continue
      const dependencies = unresolved as unknown as OpenDependency[]
      const isComplete = await replaceDependencies(run, { versionId: version_id, dependencies })
      open += isComplete ? 0 : 1
      if (!isComplete && open <= WARNINGS_MAX) warn(`Version ${remote_id} has dependencies that are not copied`)
    }
    after = rows.at(-1)?.remote_id ?? ''
    if (rows.length < BATCH) break
  }
  if (open > WARNINGS_MAX) warn(`${open - WARNINGS_MAX} more versions have dependencies that are not copied`)
}

/** Returns whether all dependencies are resolved. Writes only what changes. */
async function replaceDependencies(
  { deps, mirror }: MirrorRun,
  { versionId, dependencies }: { versionId: string; dependencies: readonly OpenDependency[] },
): Promise<boolean> {
  return transaction(deps, async (tx, changed) => {
    const { resolved, isComplete } = await resolveRemote(tx, mirror.id, { versionId, dependencies })
    const present = await tx
      .selectFrom('dependency')
      .select(['project_id', 'version_id', 'file_name', 'dependency_type', 'declared_id'])
      .where('dependent_id', '=', versionId)
      .orderBy('id')
      .execute()
    const isSame = sameList(present, resolved)
    if (!isSame) {
      await tx.deleteFrom('dependency').where('dependent_id', '=', versionId).execute()
      await insertDependencies(tx, versionId, resolved)
      changed.add('version', versionId)
    }
    if (isComplete)
      await tx.updateTable('origin').set({ unresolved: null }).where('version_id', '=', versionId).execute()
    return isComplete
  })
}
