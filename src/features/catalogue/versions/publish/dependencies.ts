// Resolves the dependencies of a version: checks that the publisher can see them, and adds the projects of versions.
import { sql } from 'kysely'
import { visibleTo } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { validationError } from '#lib/errors.ts'
import { Refusals } from '#lib/schema/refusals.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Embedded } from '../files/content-pack.ts'
import { listFiles } from '../hashes/resolve-files.ts'
import { versionVisibleTo } from '../policy.ts'
import { type DependencyInput, rejectDuplicateDependencies } from './requests.ts'

export type ResolvedDependency = {
  project_id: string | null
  version_id: string | null
  file_name: string | null
  dependency_type: DependencyInput['dependency_type']
  declared_id: string | null
}

/**
 * Adds the project of each version. Runs at most two statements.
 * @throws ApiError `validation_error` naming a field that is unknown, hidden, contradictory or a duplicate.
 */
export async function resolveDependencies(
  db: Db,
  viewer: Viewer,
  dependencies: readonly DependencyInput[],
  at = 'dependencies',
): Promise<ResolvedDependency[]> {
  if (dependencies.length === 0) return []
  const versions = await db
    .selectFrom('version')
    .innerJoin('project', 'project.id', 'version.project_id')
    .select(['version.id', 'version.project_id'])
    .where(sql<boolean>`version.id = any(${dependencies.flatMap(({ version_id }) => version_id ?? [])}::text[])`)
    .where(versionVisibleTo(viewer))
    .execute()
  const projectOf = new Map(versions.map(({ id, project_id }) => [id, project_id]))
  const projects = await db
    .selectFrom('project')
    .select('id')
    .where(sql<boolean>`project.id = any(${dependencies.flatMap(({ project_id }) => project_id ?? [])}::text[])`)
    .where(visibleTo(viewer))
    .execute()
  const projectIds = new Set(projects.map(({ id }) => id))
  const refusals = new Refusals()
  const resolved = refusals.each(
    dependencies,
    ({ project_id, version_id, file_name, dependency_type, declared_id }, index) => {
      const field = `${at}.${index}`
      const ofVersion = version_id == null ? null : projectOf.get(version_id)
      if (ofVersion === undefined)
        throw validationError(`${field}.version_id`, 'must be the ID of a version that you can see')
      if (project_id != null && !projectIds.has(project_id))
        throw validationError(`${field}.project_id`, 'must be the ID of a project that you can see')
      if (ofVersion !== null && project_id != null && ofVersion !== project_id)
        throw validationError(`${field}.version_id`, 'must be the ID of a version of the project in project_id')
      return {
        project_id: ofVersion ?? project_id ?? null,
        version_id: version_id ?? null,
        file_name: file_name ?? null,
        dependency_type,
        declared_id: declared_id?.toLowerCase() ?? null,
      }
    },
  )
  refusals.throwAny()
  // Checked again because one entry can name only a version, and another the same version with its project.
  rejectDuplicateDependencies(resolved, at)
  return resolved
}

/** Inserts dependencies in batches, because a statement can have at most 65,535 parameters. */
export async function insertDependencies(
  tx: Tx,
  dependentId: string,
  dependencies: readonly ResolvedDependency[],
): Promise<void> {
  for (let start = 0; start < dependencies.length; start += 1000) {
    const rows = dependencies
      .slice(start, start + 1000)
      .map((dependency) => ({ dependent_id: dependentId, ...dependency }))
    await tx.insertInto('dependency').values(rows).execute()
  }
}

/** Returns embedded files as dependencies: on the public version that contains the file, otherwise on its name. */
export async function embeddedDependencies(db: Db, embedded: readonly Embedded[]): Promise<ResolvedDependency[]> {
  const files = await listFiles(db, null, { hashes: embedded.flatMap(({ sha1 }) => sha1 ?? []) })
  const byHash = new Map(files.map((file) => [file.hash, file]))
  const dependencies = embedded.map(({ sha1 = '', fileName }) => {
    const file = byHash.get(sha1)
    return {
      project_id: file?.projectId ?? null,
      version_id: file?.versionId ?? null,
      file_name: file === undefined ? fileName : null,
      dependency_type: 'embedded' as const,
      declared_id: null,
    }
  })
  // A version can contain several of the files.
  return [...new Map(dependencies.map((dependency) => [JSON.stringify(dependency), dependency])).values()]
}
