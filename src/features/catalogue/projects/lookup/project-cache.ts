// Projects kept as ready bytes with what decides who sees them. A command that changes what a project's view shows names
// the project's ID under `project`.

import { findMembership, listMemberships } from '#features/basics/access/memberships.ts'
import { canSeeProject, type Membership, type ProjectFacts } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { isPublicStatus } from '#lib/project-status.ts'
import { bytesToKeep, entityTag, withLargerNumber } from '#lib/text/json-bytes.ts'
import type { Counted } from '#platform/cache/changes.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { DerivedForm } from '#platform/cache/entries.ts'
import type { Db } from '#platform/db/db.ts'
import { fieldsOf, type Taxonomy } from '#platform/taxonomy/taxonomy.ts'
import { listProjectReadsByNames, type ProjectReadRow } from '../queries.ts'
import { toProjectView } from '../views.ts'

export type CachedProject = ProjectFacts & {
  slug: string
  /** Whether its views and downloads earn money. */
  monetized: boolean
  /** Of its newest listed or archived version; null where there is none, or none that says. */
  environment: string | null
  revision: number
  bytes: Buffer
  etag: string
}

export type ProjectReader = { db: Db; cache: EntityCache; taxonomy: Taxonomy }

const PROJECT = {
  name: 'project' as const,
  idOf: (project: CachedProject) => project.id,
  sizeOf: (project: CachedProject) => project.bytes.length + 300,
  aliasesOf: (project: CachedProject) => [project.slug],
  foldAlias: (name: string) => name.toLowerCase(),
  revisionOf: (project: CachedProject) => project.revision,
  recount: (project: CachedProject, { revision, downloads }: Counted): CachedProject | undefined => {
    // A later revision was read with its downloads; of an earlier one more has changed than this number.
    if (project.revision !== revision) return project.revision > revision ? project : undefined
    const before = project.bytes.toString()
    const after = withLargerNumber(before, 'downloads', downloads)
    if (after === before) return project
    const bytes = bytesToKeep(after)
    return { ...project, bytes, etag: entityTag(bytes) }
  },
}

function toCachedProject(row: ProjectReadRow, taxonomy: Taxonomy): CachedProject {
  const bytes = Buffer.from(JSON.stringify(toProjectView(row, taxonomy)))
  const { id, slug, status, team_id, organization_id, newest, revision } = row
  // A field shows only where a loader of the version has it.
  const environment = fieldsOf(taxonomy, newest?.loaders ?? []).includes('environment')
    ? (newest?.environment ?? null)
    : null
  const monetized = row.monetization_status === 'monetized'
  return { id, slug, monetized, status, team_id, organization_id, environment, revision, bytes, etag: entityTag(bytes) }
}

/** Another form of a project as it is cached, kept and dropped with it. */
export function projectForm<D>(
  { cache }: ProjectReader,
  project: CachedProject,
  form: DerivedForm<CachedProject, D>,
): D {
  return cache.kind(PROJECT).derive(project, form)
}

/** A project in the cache and public, without a promise; undefined means: ask `getProject`. */
export function peekPublicProject({ cache }: ProjectReader, name: string): CachedProject | undefined {
  const project = cache.kind(PROJECT).peekNamed(name)
  return project !== undefined && isPublicStatus(project.status) ? project : undefined
}

/** The same for a list, each once; undefined unless all of them are in the cache and public. */
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

/** The project that `name` names as ID or slug (the ID wins), visible or not; undefined when there is none. */
export function findProject({ db, cache, taxonomy }: ProjectReader, name: string): Promise<CachedProject | undefined> {
  return cache
    .kind(PROJECT)
    .getNamed(name, async (names) =>
      (await listProjectReadsByNames(db, names)).map((row) => toCachedProject(row, taxonomy)),
    )
}

/**
 * The project that `name` names, if this viewer may see it.
 * @throws ApiError 404 when it is absent or hidden.
 */
export async function getProject(reader: ProjectReader, viewer: Viewer | null, name: string): Promise<CachedProject> {
  const project = await findProject(reader, name)
  if (project === undefined) throw notFound('project')
  if (isPublicStatus(project.status)) return project
  const membership = viewer === null ? {} : await findMembership(reader.db, viewer.id, project)
  if (!canSeeProject(viewer, project, membership)) throw notFound('project')
  return project
}

/** The same with the viewer's membership, for commands that go on to ask what the viewer may do. */
export async function getProjectAsMember(
  reader: ProjectReader,
  viewer: Viewer,
  name: string,
): Promise<{ project: CachedProject; membership: Membership }> {
  const project = await findProject(reader, name)
  if (project === undefined) throw notFound('project')
  const membership = await findMembership(reader.db, viewer.id, project)
  if (!canSeeProject(viewer, project, membership)) throw notFound('project')
  return { project, membership }
}

/**
 * The projects that `names` name as ID or slug and this viewer may see, in the order asked for, each once. At most two
 * statements, whatever the number: the missing projects, and the viewer's memberships in hidden ones.
 */
export async function listVisibleProjects(
  reader: ProjectReader,
  viewer: Viewer | null,
  names: readonly string[],
): Promise<CachedProject[]> {
  const warm = peekPublicProjects(reader, names)
  if (warm !== undefined) return warm
  const found = await reader.cache
    .kind(PROJECT)
    .getManyNamed(names, async (missing) =>
      (await listProjectReadsByNames(reader.db, missing)).map((row) => toCachedProject(row, reader.taxonomy)),
    )
  const byId = new Map<string, CachedProject>()
  for (const name of names) {
    const project = found.get(name)
    if (project !== undefined) byId.set(project.id, project)
  }
  return keepVisible(reader.db, viewer, [...byId.values()])
}

/** Of these projects, those the viewer may see. One statement at most. */
async function keepVisible<Facts extends ProjectFacts>(
  db: Db,
  viewer: Viewer | null,
  projects: readonly Facts[],
): Promise<Facts[]> {
  const hidden = projects.filter(({ status }) => !isPublicStatus(status))
  const memberships =
    viewer === null
      ? new Map()
      : await listMemberships(
          db,
          viewer.id,
          hidden.map(({ id }) => id),
        )
  return projects.filter((project) => canSeeProject(viewer, project, memberships.get(project.id) ?? {}))
}
