// From the hashes of files to versions, for every route that takes hashes: one resolver, so that all of them agree on
// what a hash stands for and who may know it. What is hidden is left out before anything is chosen.
import { sql } from 'kysely'
import type { Db } from '#db/db.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import type { Viewer } from '#lib/viewer.ts'
import { versionVisibleTo } from '../policy.ts'
import { isListedAndPasses, LIST_ORDER, type VersionFilter } from './version-filter.ts'

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

/** The version that the viewer sees a file on. */
export type ResolvedFile = { versionId: string; projectId: string }

/**
 * Where the file is that each hash stands for, keyed by the hash as it was asked for; unknown and hidden ones are left
 * out. Of several versions with the same file the one published last counts. One statement for each algorithm, which
 * reads indexes alone.
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
    for (const { hash, versionId, projectId } of files) found.set(hash, { versionId, projectId })
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
    .select([`${column} as hash`, 'version.id as versionId', 'project.id as projectId'])
    .where(sql<boolean>`${sql.ref(column)} = any(${hashes}::text[])`)
    .where(versionVisibleTo(viewer))
    .distinctOn(column)
    .orderBy(column)
    .orderBy('version.date_published', 'desc')
    .orderBy('version.id')
  return (versionId === undefined ? query : query.where('version.id', '=', versionId)).execute()
}

/** The file of a version with this hash; undefined when it is gone. */
function findFileIn(
  db: Db,
  versionId: string,
  { hash, algorithm }: { hash: string; algorithm?: Algorithm | undefined },
): Promise<{ id: string; filename: string } | undefined> {
  const lower = hash.toLowerCase()
  return db
    .selectFrom('file')
    .select(['id', 'filename'])
    .where('version_id', '=', versionId)
    .where(algorithm ?? algorithmOf(lower), '=', lower)
    .orderBy('id')
    .executeTakeFirst()
}

/** A file as a request names it. */
type FileName = { hash: string; algorithm?: Algorithm | undefined; version_id?: string | undefined }

/** @throws ApiError 404 when the hash is unknown or hidden. */
export async function resolveFile(db: Db, viewer: Viewer | null, named: FileName): Promise<ResolvedFile> {
  const { hash, algorithm, version_id: versionId } = named
  if (versionId !== undefined) parseId(versionId, 'version_id')
  const file = (await resolveFiles(db, viewer, { hashes: [hash], algorithm, versionId })).get(hash)
  if (file === undefined) throw notFound('file')
  return file
}

/** The same with the file itself. */
export async function getFile(db: Db, viewer: Viewer | null, named: FileName) {
  const place = await resolveFile(db, viewer, named)
  const file = await findFileIn(db, place.versionId, named)
  if (file === undefined) throw notFound('file')
  return { ...place, ...file }
}

export type UpdateCheck = { projectId: string; filter: VersionFilter }

/** Different filters for files of one project in one request: each goes through the versions of the project again. */
export const FILTERS_PER_PROJECT_MAX = 32
/** Different filters in one statement. */
const FILTERS_PER_STATEMENT = 64

/** Projects whose lists are gone through under one filter, and what stood first in them. */
type Round = { filter: VersionFilter; found: Map<string, string | undefined> }

/**
 * For each check the version that stands first in its project's list under its filter; undefined where none passes.
 * A viewer who sees the project sees each of these. One statement for every 64 different filters.
 * @throws ApiError `invalid_input` when one project comes with too many different filters.
 */
export async function listUpdates(db: Db, checks: readonly UpdateCheck[]): Promise<(string | undefined)[]> {
  const rounds = groupByFilter(checks)
  const all = [...new Set(rounds)]
  refuseManyFilters(all)
  for (let start = 0; start < all.length; start += FILTERS_PER_STATEMENT) {
    const part = all.slice(start, start + FILTERS_PER_STATEMENT)
    const { rows } = await sql<{ round: number; project_id: string; id: string }>`${sql.join(
      part.map(listFirst),
      sql` union all `,
    )}`.execute(db)
    for (const { round, project_id, id } of rows) part[round]?.found.set(project_id, id)
  }
  return checks.map(({ projectId }, index) => rounds[index]?.found.get(projectId))
}

/** The round of each check. */
function groupByFilter(checks: readonly UpdateCheck[]): Round[] {
  const byObject = new Map<VersionFilter, Round>()
  const byText = new Map<string, Round>()
  return checks.map(({ projectId, filter }) => {
    let round = byObject.get(filter)
    if (round === undefined) {
      const text = JSON.stringify(filter)
      round = byText.get(text) ?? { filter, found: new Map() }
      byText.set(text, round)
      byObject.set(filter, round)
    }
    round.found.set(projectId, undefined)
    return round
  })
}

function refuseManyFilters(rounds: readonly Round[]): void {
  if (rounds.length <= FILTERS_PER_PROJECT_MAX) return
  const counts = new Map<string, number>()
  for (const projectId of rounds.flatMap(({ found }) => [...found.keys()])) {
    const count = (counts.get(projectId) ?? 0) + 1
    if (count > FILTERS_PER_PROJECT_MAX) {
      throw invalidInput(`At most ${FILTERS_PER_PROJECT_MAX} different filters for files of one project`, 'hashes')
    }
    counts.set(projectId, count)
  }
}

function listFirst({ filter, found }: Round, round: number) {
  return sql`select ${sql.lit(round)} as round, asked.project_id, first.id
    from unnest(${[...found.keys()]}::text[]) as asked (project_id)
    cross join lateral (
      select version.id from version
      where version.project_id = asked.project_id and ${isListedAndPasses(filter)}
      order by ${LIST_ORDER} limit 1) first`
}
