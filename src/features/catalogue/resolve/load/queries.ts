// Reads candidates and their dependencies. Each function runs one statement.
import { sql } from 'kysely'
import { visibleTo } from '#features/basics/access/project-policy.ts'
import { LIST_ORDER } from '#features/basics/access/version-status.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import type { Db } from '#platform/db/db.ts'
import { versionVisibleTo } from '../../versions/policy.ts'
import { familyLast, isCandidate, matches, runsOnLoaders, type Target } from './target.ts'

export type CandidateRow = { project_id: string; version_ids: string[] }

/** Returns the projects that the viewer can see, each with the first `limit` candidates in the order of its list. */
export async function listCandidates(
  db: Db,
  target: Target,
  { projectIds, limit, viewer }: { projectIds: readonly string[]; limit: number; viewer: Viewer | null },
): Promise<CandidateRow[]> {
  const runs = sql<boolean>`wanted.runs`
  const { rows } = await sql<CandidateRow>`
    select wanted.id as project_id, array(
      select version.id from version
      where version.project_id = wanted.id and ${isCandidate(target, runs)}
      order by ${familyLast(target, runs)}${LIST_ORDER} limit ${limit}) as version_ids
    from (select project.id, ${runsOnLoaders(target, sql.ref('project.id'))} as runs
      from project where project.id = any(${[...projectIds]}::text[]) and ${visibleTo(viewer)} offset 0) wanted`.execute(
    db,
  )
  return rows
}

export type NamedRow = { id: string; project_id: string; published: number; matches: boolean }

/** Returns the versions with these IDs that the viewer can see. */
export async function listNamed(
  db: Db,
  target: Target,
  { ids, viewer }: { ids: readonly string[]; viewer: Viewer | null },
): Promise<NamedRow[]> {
  const runs = runsOnLoaders(target, sql.ref('version.project_id'))
  const { rows } = await sql<NamedRow>`
    select version.id, version.project_id, extract(epoch from version.date_published)::float8 * 1000 as published,
      ${matches(target, runs)} as matches
    from version join project on project.id = version.project_id
    where version.id = any(${[...ids]}::text[]) and ${versionVisibleTo(viewer)}`.execute(db)
  return rows
}

export type DependencyRow = {
  /** Position of the dependent version in the request, from 1. */
  n: number
  kind: 'required' | 'optional' | 'incompatible' | 'embedded'
  project_id: string | null
  version_id: string | null
  file_name: string | null
}

/** Returns at most `limit` dependencies of these versions, in their order and in the publisher's order. */
export async function listDependencies(db: Db, versionIds: readonly string[], limit: number): Promise<DependencyRow[]> {
  const { rows } = await sql<DependencyRow>`
    select wanted.n::int, named.dependency_type as kind, named.project_id, named.version_id, named.file_name
    from unnest(${[...versionIds]}::text[]) with ordinality wanted (id, n)
    cross join lateral (
      select dependency_type, project_id, version_id, file_name from dependency
      where dependent_id = wanted.id and (project_id is not null or dependency_type = 'required') order by id) named
    limit ${limit}`.execute(db)
  return rows
}

/** Returns the IDs of the public projects with these IDs or slugs, by ID and by slug. An ID takes precedence. */
export async function listProjectIds(db: Db, names: readonly string[]): Promise<Map<string, string>> {
  const folded = names.map((name) => name.toLowerCase())
  const { rows } = await sql<{ id: string; slug: string }>`select project.id, project.slug from project
    where (project.id = any(${[...names]}::text[]) or project.slug = any(${folded}::text[])) and ${visibleTo(null)}`.execute(
    db,
  )
  return new Map([...rows.map(({ id, slug }) => [slug, id] as const), ...rows.map(({ id }) => [id, id] as const)])
}

/** Returns the projects of the public versions with these IDs. */
export async function listProjectsOfVersions(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; project_id: string }>`select version.id, version.project_id
    from version join project on project.id = version.project_id
    where version.id = any(${[...ids]}::text[]) and ${versionVisibleTo(null)}`.execute(db)
  return new Map(rows.map(({ id, project_id }) => [id, project_id]))
}
