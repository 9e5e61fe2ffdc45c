// From the hashes of files to versions, for every route that takes hashes: one resolver, so that all of them agree on
// what a hash stands for and who may know it. What is hidden is left out before anything is chosen.
import { sql } from 'kysely'
import type { Db } from '#db/db.ts'
import type { Viewer } from '#lib/viewer.ts'
import type { ProjectFacts } from '../projects/policy.ts'
import { versionVisibleTo } from './policy.ts'
import { filterValues, isListedAndPasses, LIST_ORDER, type VersionFilter } from './version-filter.ts'

export const ALGORITHMS = ['sha1', 'sha512'] as const
export type Algorithm = (typeof ALGORITHMS)[number]

/** Hashes that one request may name. */
export const HASHES_MAX = 1000
/** Hexadecimal digits of a SHA-512. */
export const HASH_LENGTH_MAX = 128

export type HashQuery = {
  /** In any case. */
  hashes: readonly string[]
  /** Absent: each hash says by its length what it is. */
  algorithm?: Algorithm | undefined
  /** Of several versions with the file, this one. */
  versionId?: string | undefined
}

/** A file, as the version that the viewer sees it on. */
export type ResolvedFile = { id: string; filename: string; versionId: string; project: ProjectFacts }

/**
 * The file that each hash stands for, keyed by the hash as it was asked for; unknown and hidden ones are left out. Of
 * several versions with the same file the one published last counts. One statement.
 */
export async function resolveFiles(
  db: Db,
  viewer: Viewer | null,
  query: HashQuery,
): Promise<Map<string, ResolvedFile>> {
  const wanted = query.hashes.map((asked) => ({ asked, hash: asked.toLowerCase() }))
  const of = (algorithm: Algorithm) =>
    wanted.flatMap(({ hash }) => ((query.algorithm ?? algorithmOf(hash)) === algorithm ? hash : []))
  const bySha1 = new Map<string, ResolvedFile>()
  const bySha512 = new Map<string, ResolvedFile>()
  for (const { sha1, sha512, ...file } of await listNewestFiles(db, viewer, {
    ...query,
    sha1: of('sha1'),
    sha512: of('sha512'),
  })) {
    bySha1.set(sha1, file)
    bySha512.set(sha512, file)
  }
  const found = wanted.flatMap(({ asked, hash }) => {
    const file = (query.algorithm ?? algorithmOf(hash)) === 'sha512' ? bySha512.get(hash) : bySha1.get(hash)
    return file === undefined ? [] : [[asked, file] as const]
  })
  return new Map(found)
}

function algorithmOf(hash: string): Algorithm {
  return hash.length >= HASH_LENGTH_MAX ? 'sha512' : 'sha1'
}

async function listNewestFiles(
  db: Db,
  viewer: Viewer | null,
  { sha1, sha512, versionId }: { sha1: string[]; sha512: string[]; versionId?: string | undefined },
): Promise<(ResolvedFile & { sha1: string; sha512: string })[]> {
  if (sha1.length === 0 && sha512.length === 0) return []
  let query = db
    .selectFrom('file')
    .innerJoin('version', 'version.id', 'file.version_id')
    .innerJoin('project', 'project.id', 'version.project_id')
    .select(['file.id', 'file.filename', 'file.sha1', 'file.sha512', 'file.version_id'])
    .select(['project.id as project_id', 'project.status', 'project.team_id', 'project.organization_id'])
    .where((eb) => {
      const named = []
      if (sha1.length > 0) named.push(sql<boolean>`file.sha1 = any(${sha1}::text[])`)
      if (sha512.length > 0) named.push(sql<boolean>`file.sha512 = any(${sha512}::text[])`)
      return eb.or(named)
    })
    .where(versionVisibleTo(viewer))
    .distinctOn('file.sha512')
    .orderBy('file.sha512')
    .orderBy('version.date_published', 'desc')
    .orderBy('version.id')
  if (versionId !== undefined) query = query.where('version.id', '=', versionId)
  const rows = await query.execute()
  return rows.map(({ version_id, project_id, status, team_id, organization_id, ...file }) => ({
    ...file,
    versionId: version_id,
    project: { id: project_id, status, team_id, organization_id },
  }))
}

export type UpdateWish = { projectId: string; filter: VersionFilter }

/**
 * For each wish the version that stands first in its project's list under its filter; undefined where none passes.
 * Whoever sees the project sees each of these. One statement.
 */
export async function listUpdates(db: Db, wishes: readonly UpdateWish[]): Promise<(string | undefined)[]> {
  const [first] = wishes
  if (first === undefined) return []
  const { rows } = wishes.every(({ filter }) => filter === first.filter)
    ? await listUnderOneFilter(db, wishes, first.filter)
    : await listUnderOwnFilters(db, wishes)
  const found = new Map(rows.map(({ index, id }) => [index, id]))
  return wishes.map((_, index) => found.get(index))
}

type Found = { index: number; id: string }

function listUnderOneFilter(db: Db, wishes: readonly UpdateWish[], filter: VersionFilter) {
  return sql<Found>`
    select wish.index::integer - 1 as index, found.id
    from unnest(${wishes.map(({ projectId }) => projectId)}::text[]) with ordinality as wish (project_id, index)
    cross join lateral (
      select version.id from version
      where version.project_id = wish.project_id and ${isListedAndPasses(filterValues(filter))}
      order by ${LIST_ORDER} limit 1) found`.execute(db)
}

function listUnderOwnFilters(db: Db, wishes: readonly UpdateWish[]) {
  const rows = wishes.map(({ projectId, filter }, index) => ({
    index,
    project_id: projectId,
    loaders: filter.loaders ?? [],
    version_types: filter.versionTypes ?? [],
    loader_fields: filter.loaderFields ?? {},
  }))
  const own = {
    loaders: sql.ref('wish.loaders'),
    versionTypes: sql.ref('wish.version_types'),
    loaderFields: sql.ref('wish.loader_fields'),
  }
  return sql<Found>`
    select wish.index, found.id
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as wish (index integer, project_id text, loaders text[], version_types text[], loader_fields jsonb)
    cross join lateral (
      select version.id from version
      where version.project_id = wish.project_id and ${isListedAndPasses(own)}
      order by ${LIST_ORDER} limit 1) found`.execute(db)
}
