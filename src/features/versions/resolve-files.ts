// From the hashes of files to versions, for every route that takes hashes: one resolver, so that all of them agree on
// what a hash stands for and who may know it. What is hidden is left out before anything is chosen.
import { sql } from 'kysely'
import type { Db } from '#db/db.ts'
import type { Viewer } from '#lib/viewer.ts'
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
export type ResolvedFile = { id: string; filename: string; versionId: string; projectId: string }

/**
 * The file that each hash stands for, keyed by the hash as it was asked for; unknown and hidden ones are left out. Of
 * several versions with the same file the one published last counts. One statement for each algorithm.
 */
export async function resolveFiles(
  db: Db,
  viewer: Viewer | null,
  query: HashQuery,
): Promise<Map<string, ResolvedFile>> {
  const wanted = query.hashes.map((asked) => {
    const hash = asked.toLowerCase()
    return { asked, hash, algorithm: query.algorithm ?? algorithmOf(hash) }
  })
  const found = new Map<string, ResolvedFile>()
  for (const algorithm of ALGORITHMS) {
    const hashes = wanted.filter((each) => each.algorithm === algorithm).map(({ hash }) => hash)
    if (hashes.length === 0) continue
    const files = await listNewestFiles(db, viewer, { algorithm, hashes, versionId: query.versionId })
    for (const { hash, ...file } of files) found.set(hash, file)
  }
  return new Map(
    wanted.flatMap(({ asked, hash }) => {
      const file = found.get(hash)
      return file === undefined ? [] : [[asked, file] as const]
    }),
  )
}

function algorithmOf(hash: string): Algorithm {
  return hash.length >= HASH_LENGTH_MAX ? 'sha512' : 'sha1'
}

async function listNewestFiles(
  db: Db,
  viewer: Viewer | null,
  { algorithm, hashes, versionId }: { algorithm: Algorithm; hashes: string[]; versionId: string | undefined },
): Promise<(ResolvedFile & { hash: string })[]> {
  const column = `file.${algorithm}` as const
  const query = db
    .selectFrom('file')
    .innerJoin('version', 'version.id', 'file.version_id')
    .innerJoin('project', 'project.id', 'version.project_id')
    .select([`${column} as hash`, 'file.id', 'file.filename', 'version.id as versionId', 'project.id as projectId'])
    .where(sql<boolean>`${sql.ref(column)} = any(${hashes}::text[])`)
    .where(versionVisibleTo(viewer))
    .distinctOn(column)
    .orderBy(column)
    .orderBy('version.date_published', 'desc')
    .orderBy('version.id')
  return (versionId === undefined ? query : query.where('version.id', '=', versionId)).execute()
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
