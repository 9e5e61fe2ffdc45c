// Caches the JSON of projects together with the facts that decide who can see them. A command that changes a project's
// view must add the project's ID to the change set, under `project`.

import { findMembership, listMemberships } from '#features/basics/access/memberships.ts'
import { canSeeProject, type Membership, type ProjectFacts } from '#features/basics/access/project-policy.ts'
import { hasScope } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { FilesConfig } from '#features/basics/images/hosted-image.ts'
import { notFound } from '#lib/errors.ts'
import { bytesToKeep, entityTag, type JsonOf, viewOf, withLargerNumber } from '#lib/text/json-bytes.ts'
import { convertInPieces } from '#lib/text/json-pieces.ts'
import type { Counted } from '#platform/cache/changes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import type { Db } from '#platform/db/db.ts'
import { isPublicStatus } from '#taxonomy/project-status.ts'
import { loadersWith, type Taxonomy } from '#taxonomy/taxonomy.ts'
import { listProjectReadsByNames, type ProjectReadRow } from '../queries.ts'
import { type ProjectView, toProjectView } from '../views.ts'

declare module '#platform/cache/changes.ts' {
  interface ChangeKinds {
    project: true
  }
}

export type CachedProject = JsonOf<ProjectView> &
  ProjectFacts & {
    slug: string
    /** Whether views and downloads of the project earn revenue. */
    monetized: boolean
    /** Environment of the newest listed or archived version whose loaders have one; null without such a version. */
    environment: string | null
    revision: number
    etag: string
  }

export type ProjectReader = { db: Db; cache: EntityCache; taxonomy: Taxonomy; config: FilesConfig }

const PROJECT = defineCache({
  name: 'project',
  contains: 'Public view of a project as JSON',
  idOf: (project: CachedProject) => project.id,
  sizeOf: (project: CachedProject) => project.bytes.length + 300,
  aliasesOf: (project: CachedProject) => [project.slug],
  foldAlias: (name: string) => name.toLowerCase(),
  revisionOf: (project: CachedProject) => project.revision,
  recount: (project: CachedProject, { revision, downloads }: Counted): CachedProject | undefined => {
    // A later revision already includes these downloads. An earlier revision is outdated in other fields too.
    if (project.revision !== revision) return project.revision > revision ? project : undefined
    const before = project.bytes.toString()
    const after = withLargerNumber(before, 'downloads', downloads)
    if (after === before) return project
    const bytes = bytesToKeep(after)
    return { ...project, bytes, etag: entityTag(bytes) }
  },
})

function toCachedProject(row: ProjectReadRow, reader: Pick<ProjectReader, 'taxonomy' | 'config'>): CachedProject {
  const bytes = Buffer.from(JSON.stringify(toProjectView(row, reader)))
  const { id, slug, status, team_id, organization_id, environment, revision } = row
  const monetized = row.monetization_status === 'monetized'
  return { id, slug, monetized, status, team_id, organization_id, environment, revision, bytes, etag: entityTag(bytes) }
}

/** Returns another representation of a cached project, which is cached and invalidated together with the project. */
export function projectForm<D>(
  { cache }: ProjectReader,
  project: CachedProject,
  form: DerivedForm<CachedProject, D>,
): D {
  return cache.kind(PROJECT).derive(project, form)
}

/** Returns the project without waiting if it is cached and public. If undefined, call `getProject`. */
export function peekPublicProject({ cache }: Pick<ProjectReader, 'cache'>, name: string): CachedProject | undefined {
  const project = cache.kind(PROJECT).peekNamed(name)
  return project !== undefined && isPublicStatus(project.status) ? project : undefined
}

/** Returns the projects without duplicates, or undefined unless all of them are cached and public. */
function peekPublicProjects({ cache }: ProjectReader, names: readonly string[]): CachedProject[] | undefined {
  const kind = cache.kind(PROJECT)
  const projects = new Set<CachedProject>()
  for (const name of names) {
    const project = kind.peekNamed(name)
    if (project === undefined || !isPublicStatus(project.status)) return undefined
    projects.add(project)
  }
  return [...projects]
}

function loaderOf(reader: ProjectReader) {
  return async (names: readonly string[]): Promise<CachedProject[]> => {
    const rows = await listProjectReadsByNames(reader.db, names, loadersWith(reader.taxonomy, 'environment'))
    return convertInPieces(rows, (row) => toCachedProject(row, reader))
  }
}

/** Returns the project with this ID or slug, hidden or not. An ID takes precedence over a slug. */
export function findProject(reader: ProjectReader, name: string): Promise<CachedProject | undefined> {
  return reader.cache.kind(PROJECT).getNamed(name, loaderOf(reader))
}

/** Returns the project with this ID or slug. @throws ApiError 404 if it is absent or hidden from the viewer. */
export async function getProject(reader: ProjectReader, viewer: Viewer | null, name: string): Promise<CachedProject> {
  const project = await findProject(reader, name)
  if (project === undefined) throw notFound('project')
  if (isPublicStatus(project.status)) return project
  const membership = viewer === null ? {} : await findMembership(reader.db, viewer, project)
  if (!canSeeProject(viewer, project, membership)) throw notFound('project')
  return project
}

/** Returns the project as `getProject` does, with the viewer's membership, which decides what they may do. */
export async function getProjectAsMember(
  reader: ProjectReader,
  viewer: Viewer,
  name: string,
): Promise<{ project: CachedProject; membership: Membership }> {
  const project = await findProject(reader, name)
  if (project === undefined) throw notFound('project')
  const membership = await findMembership(reader.db, viewer, project)
  if (!canSeeProject(viewer, project, membership)) throw notFound('project')
  return { project, membership }
}

/**
 * Returns the projects with these IDs or slugs that the viewer can see, in the requested order and without duplicates.
 * Runs at most two statements for 5,000 projects: for projects that are not cached, and for memberships in hidden ones.
 */
export async function listVisibleProjects(
  reader: ProjectReader,
  viewer: Viewer | null,
  names: readonly string[],
): Promise<CachedProject[]> {
  const cached = peekPublicProjects(reader, names)
  if (cached !== undefined) return cached
  const byName = await reader.cache.kind(PROJECT).getManyNamed(names, loaderOf(reader))
  const byId = new Map(names.flatMap((name) => byName.get(name) ?? []).map((project) => [project.id, project]))
  const projects = [...byId.values()]
  const hiddenIds = projects.flatMap(({ id, status }) => (isPublicStatus(status) ? [] : [id]))
  const memberships =
    viewer === null ? new Map<string, Membership>() : await listMemberships(reader.db, viewer, hiddenIds)
  return projects.filter((project) => canSeeProject(viewer, project, memberships.get(project.id) ?? {}))
}

/** Returns the viewer if their token includes PROJECT_READ, otherwise null: the request then sees public projects only. */
export function projectViewer(viewer: Viewer | null): Viewer | null {
  return viewer !== null && hasScope(viewer.scopes, 'PROJECT_READ') ? viewer : null
}

/** Returns the function with which `withCurrentState` reads a project for the editor. */
export function readerOfProject(viewer: Viewer, id: string) {
  return async (reader: ProjectReader): Promise<unknown> => viewOf(await getProject(reader, projectViewer(viewer), id))
}
