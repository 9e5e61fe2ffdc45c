// Finds the projects and versions that the items of a request name, as everyone sees them.
import { resolveFiles } from '../versions/hashes/resolve-files.ts'
import type { VersionReader } from '../versions/lookup/version-cache.ts'
import { listProjectIds, listProjectsOfVersions } from './load/queries.ts'
import type { RequestedItem } from './requests.ts'
import type { SolverItem } from './solve/world.ts'

/** Returns the items that exist, with their position. Runs at most four statements. */
export async function findItems(
  reader: Pick<VersionReader, 'db' | 'cache'>,
  items: readonly RequestedItem[],
): Promise<SolverItem[]> {
  const hashes = items.flatMap(({ hash }) => hash ?? [])
  const files = hashes.length === 0 ? [] : await resolveFiles(reader, null, { hashes })
  const byHash = new Map(hashes.map((hash, index) => [hash, files[index]]))
  const names = items.flatMap(({ project }) => project ?? [])
  const projects = names.length === 0 ? new Map<string, string>() : await listProjectIds(reader.db, names)
  const ids = items.flatMap(({ version }) => version ?? [])
  const versions = ids.length === 0 ? new Map<string, string>() : await listProjectsOfVersions(reader.db, ids)
  return items.flatMap(({ project, version, hash }, index): SolverItem[] => {
    if (hash !== undefined) {
      const file = byHash.get(hash)
      return file === undefined ? [] : [{ index, projectId: file.projectId, versionId: file.versionId }]
    }
    const ofVersion = version === undefined ? undefined : versions.get(version)
    const named = project === undefined ? undefined : (projects.get(project) ?? projects.get(project.toLowerCase()))
    const projectId = project === undefined ? ofVersion : named
    if (projectId === undefined || (version !== undefined && ofVersion !== projectId)) return []
    return [{ index, projectId, versionId: version }]
  })
}
