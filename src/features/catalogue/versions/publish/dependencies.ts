// Resolves the dependencies of a version: checks that the publisher can see them, and adds the projects of versions.

import { listMemberships } from '#features/basics/access/memberships.ts'
import { canSeeProject, type ProjectFacts } from '#features/basics/access/project-policy.ts'
import { PUBLIC_VERSION_STATUSES } from '#features/basics/access/version-status.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { validationError } from '#lib/errors.ts'
import { PUBLIC_STATUSES } from '#lib/project-status.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Embedded } from '../files/content-pack.ts'
import { canSeeVersion } from '../policy.ts'
import { type DependencyInput, rejectDuplicateDependencies } from './requests.ts'

export type ResolvedDependency = {
  project_id: string | null
  version_id: string | null
  file_name: string | null
  dependency_type: DependencyInput['dependency_type']
}

type Target = { project: ProjectFacts; version?: { id: string; status: string } }

/**
 * Adds the project of each version. Runs at most three statements.
 * @throws ApiError `validation_error` naming the dependency's field if its project or version is unknown or hidden, if
 * the version belongs to another project, or if a dependency is listed twice.
 */
export async function resolveDependencies(
  db: Db,
  viewer: Viewer,
  dependencies: readonly DependencyInput[],
  at = 'dependencies',
): Promise<ResolvedDependency[]> {
  const versionIds = dependencies.flatMap(({ version_id }) => version_id ?? [])
  const versions = await findVersions(db, versionIds)
  const projectIds = dependencies.flatMap(({ project_id }) => project_id ?? [])
  const projects = await findProjects(db, projectIds)
  const targets = [...versions.values(), ...projects.values()]
  const memberships = await listMemberships(db, viewer.id, [...new Set(targets.map(({ project }) => project.id))])
  const isVisible = ({ project, version }: Target): boolean => {
    const membership = memberships.get(project.id) ?? {}
    return version === undefined
      ? canSeeProject(viewer, project, membership)
      : canSeeVersion(viewer, { ...version, project }, membership)
  }
  const resolved = dependencies.map(({ project_id, version_id, file_name, dependency_type }, index) => {
    const field = `${at}.${index}`
    const version = version_id ? versions.get(version_id) : undefined
    if (version_id && (version === undefined || !isVisible(version))) {
      throw validationError(`${field}.version_id`, 'must be the ID of a version that you can see')
    }
    const project = project_id ? projects.get(project_id) : undefined
    if (project_id && (project === undefined || !isVisible(project))) {
      throw validationError(`${field}.project_id`, 'must be the ID of a project that you can see')
    }
    if (version !== undefined && project !== undefined && version.project.id !== project.project.id) {
      throw validationError(`${field}.version_id`, 'must be the ID of a version of the project in project_id')
    }
    return {
      project_id: version?.project.id ?? project?.project.id ?? null,
      version_id: version_id ?? null,
      file_name: file_name ?? null,
      dependency_type,
    }
  })
  // Checked again because one entry can name only a version, and another the same version with its project.
  rejectDuplicateDependencies(resolved, at)
  return resolved
}

async function findVersions(db: Db, ids: readonly string[]): Promise<Map<string, Required<Target>>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('version')
    .innerJoin('project', 'project.id', 'version.project_id')
    .select([
      'version.id',
      'version.status',
      'project.id as project_id',
      'project.status as project_status',
      'project.team_id',
      'project.organization_id',
    ])
    .where('version.id', 'in', ids)
    .execute()
  return new Map(
    rows.map(({ id, status, project_id, project_status, team_id, organization_id }) => [
      id,
      { version: { id, status }, project: { id: project_id, status: project_status, team_id, organization_id } },
    ]),
  )
}

async function findProjects(db: Db, ids: readonly string[]): Promise<Map<string, Target>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('project')
    .select(['id', 'status', 'team_id', 'organization_id'])
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map((project) => [project.id, { project }]))
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

/**
 * Returns the embedded files of a content pack as dependencies: on the public version that contains a file with this
 * hash, otherwise on the file name. Runs at most one statement.
 */
export async function embeddedDependencies(db: Db, embedded: readonly Embedded[]): Promise<ResolvedDependency[]> {
  if (embedded.length === 0) return []
  const hashes = embedded.flatMap(({ sha1 }) => sha1 ?? [])
  const rows =
    hashes.length === 0
      ? []
      : await db
          .selectFrom('file')
          .innerJoin('version', 'version.id', 'file.version_id')
          .innerJoin('project', 'project.id', 'version.project_id')
          .select(['file.sha1', 'version.id as version_id', 'version.project_id'])
          .where('file.sha1', 'in', hashes)
          .where('version.status', 'in', PUBLIC_VERSION_STATUSES)
          .where('project.status', 'in', PUBLIC_STATUSES)
          .orderBy('version.date_published')
          .execute()
  const bySha1 = new Map(rows.map((row) => [row.sha1, row]))
  const seen = new Set<string>()
  return embedded.flatMap(({ sha1, fileName }) => {
    const file = sha1 === undefined ? undefined : bySha1.get(sha1)
    const dependency = {
      project_id: file?.project_id ?? null,
      version_id: file?.version_id ?? null,
      file_name: file === undefined ? fileName : null,
      dependency_type: 'embedded' as const,
    }
    const key = JSON.stringify(dependency)
    if (seen.has(key)) return []
    seen.add(key)
    return [dependency]
  })
}
