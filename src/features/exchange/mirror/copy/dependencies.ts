// Dependencies of copies. A version or project of the source is one here if it was copied, under whatever ID, or if a version
// here has the same file.
import { sql } from 'kysely'
import type { ResolvedDependency } from '#features/catalogue/versions/publish/dependencies.ts'
import type { Db } from '#platform/db/db.ts'
import { distinctDependencies } from '../../import/write-version.ts'
import type { RemoteDependency } from '../source/remote-objects.ts'

/** A dependency of the source, with the hashes of the version's files if it is not copied. */
export type OpenDependency = RemoteDependency & { sha512?: string[] | undefined }

type Target = { project_id: string; version_id: string }

/** Returns the dependencies here, and whether some of the source are missing or less exact. */
export async function resolveRemote(
  db: Db,
  mirrorId: string,
  { versionId, dependencies }: { versionId: string; dependencies: readonly OpenDependency[] },
): Promise<{ resolved: ResolvedDependency[]; isComplete: boolean }> {
  if (dependencies.length === 0) return { resolved: [], isComplete: true }
  const hashes = dependencies.flatMap(({ sha512 }) => sha512 ?? [])
  const [versions, projects, files] = await Promise.all([
    copiedVersions(db, mirrorId, dependencies),
    copiedProjects(db, mirrorId, dependencies),
    hashes.length === 0 ? new Map<string, Target>() : versionsWith(db, hashes),
  ])
  let isComplete = true
  const resolved: ResolvedDependency[] = []
  for (const dependency of dependencies) {
    const { version_id, project_id, dependency_type } = dependency
    const byHash = dependency.sha512?.flatMap((hash) => files.get(hash) ?? [])[0]
    const version = version_id == null ? undefined : (byHash ?? versions.get(version_id))
    const project = version?.project_id ?? projects.get(project_id ?? '') ?? null
    if ((version_id != null && version === undefined) || (project_id != null && project === null)) isComplete = false
    const file_name = dependency.file_name ?? null
    if (version?.version_id === versionId || (project === null && file_name === null)) continue
    const declared_id = dependency.declared_id?.toLowerCase() ?? null
    resolved.push({
      ...{ project_id: project, version_id: version?.version_id ?? null, file_name },
      ...{ dependency_type, declared_id },
    })
  }
  return { resolved: distinctDependencies(resolved), isComplete }
}

async function copiedVersions(db: Db, mirrorId: string, of: readonly OpenDependency[]): Promise<Map<string, Target>> {
  const ids = of.flatMap(({ version_id }) => version_id ?? [])
  const { rows } = await sql<Target & { remote: string }>`select origin.remote_id as remote, version.id as version_id,
    version.project_id from origin join version on version.id = origin.version_id
    where origin.mirror_id = ${mirrorId} and origin.kind = 'version' and origin.remote_id = any(${ids}::text[])`.execute(
    db,
  )
  return new Map(rows.map(({ remote, ...target }) => [remote, target]))
}

async function copiedProjects(db: Db, mirrorId: string, of: readonly OpenDependency[]): Promise<Map<string, string>> {
  const ids = of.flatMap(({ project_id }) => project_id ?? [])
  const { rows } = await sql<{ remote: string; id: string }>`select remote_id as remote, project_id as id from origin
    where mirror_id = ${mirrorId} and kind = 'project' and remote_id = any(${ids}::text[])`.execute(db)
  return new Map(rows.map(({ remote, id }) => [remote, id]))
}

/** Only public versions: a copy must not show which files hidden versions have. */
async function versionsWith(db: Db, hashes: readonly string[]): Promise<Map<string, Target>> {
  const { rows } = await sql<Target & { sha512: string }>`
    select distinct on (file.sha512) file.sha512, version.id as version_id, version.project_id
    from file join version on version.id = file.version_id join project on project.id = version.project_id
    where file.sha512 = any(${hashes}::text[]) and is_listed(version.status) and is_searchable(project.status)
    order by file.sha512, version.date_published, version.id`.execute(db)
  return new Map(rows.map(({ sha512, ...target }) => [sha512, target]))
}

type Listed = Record<'project_id' | 'version_id' | 'file_name' | 'dependency_type' | 'declared_id', string | null>

/** Returns whether two lists of dependencies are equal, in the same order. */
export function sameList(a: readonly Listed[], b: readonly Listed[]): boolean {
  const textOf = (list: readonly Listed[]) =>
    JSON.stringify(
      list.map((one) => [one.project_id, one.version_id, one.file_name, one.dependency_type, one.declared_id]),
    )
  return textOf(a) === textOf(b)
}
