// From the hashes of files to versions, for every route that takes hashes: one resolver, so that all of them agree on
// what a hash stands for and who may know it. What is hidden is left out before anything is chosen.
import { sql } from 'kysely'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { Db } from '#platform/db/db.ts'
import {
  type FileLocation,
  findVersionsOfFiles,
  listLookupResults,
  peekFirstVersion,
  storeFirstVersion,
} from '../lookup/lookup-cache.ts'
import { isListedAndPasses, LIST_ORDER, type VersionFilter } from '../lookup/version-filter.ts'
import { versionVisibleTo } from '../policy.ts'

export const ALGORITHMS = ['sha1', 'sha512'] as const
export type Algorithm = (typeof ALGORITHMS)[number]

/** Hashes that one request may name. */
export const HASHES_MAX = 1000
/** Hexadecimal digits. */
const HASH_LENGTHS: Readonly<Record<Algorithm, number>> = { sha1: 40, sha512: 128 }
export const HASH_LENGTH_MAX = HASH_LENGTHS.sha512

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

/** What resolving reads from. */
export type FileReader = { db: Db; cache: EntityCache }

/**
 * Where the file is that each hash stands for, in the order of the hashes; undefined for unknown and hidden ones. Of several
 * versions with the same file the one published last counts. One statement for each algorithm, which reads indexes alone;
 * none for what everybody sees and is known already.
 */
export async function resolveFiles(
  reader: FileReader,
  viewer: Viewer | null,
  query: HashQuery,
): Promise<(ResolvedFile | undefined)[]> {
  const { versionId } = query
  const hashes = query.hashes.map((hash) => lowerHash(hash, query.algorithm))
  if (viewer === null && versionId === undefined) {
    return findVersionsOfFiles(reader, hashes, (missing) => listFiles(reader.db, null, { hashes: missing, versionId }))
  }
  const asked = hashes.filter((hash) => hash !== undefined)
  const rows = await listFiles(reader.db, viewer, { hashes: asked, versionId })
  const found = new Map(rows.map((file) => [file.hash, file]))
  return hashes.map((hash) => (hash === undefined ? undefined : found.get(hash)))
}

/** A hash as it is stored; undefined where its length says that it is none of the algorithm, or of any. */
function lowerHash(hash: string, algorithm: Algorithm | undefined): string | undefined {
  const own = algorithmOf(hash)
  return own === undefined || (algorithm !== undefined && algorithm !== own) ? undefined : hash.toLowerCase()
}

function algorithmOf({ length }: string): Algorithm | undefined {
  return ALGORITHMS.find((algorithm) => HASH_LENGTHS[algorithm] === length)
}

/** The same from the database, in any order. */
async function listFiles(
  db: Db,
  viewer: Viewer | null,
  { hashes, versionId }: { hashes: readonly string[]; versionId: string | undefined },
): Promise<FileLocation[]> {
  const files: FileLocation[] = []
  for (const algorithm of ALGORITHMS) {
    const own = hashes.filter((hash) => hash.length === HASH_LENGTHS[algorithm])
    if (own.length > 0) files.push(...(await listNewestFiles(db, viewer, { algorithm, hashes: own, versionId })))
  }
  return files
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
function findFileIn(db: Db, versionId: string, hash: string): Promise<{ id: string; filename: string } | undefined> {
  return db
    .selectFrom('file')
    .select(['id', 'filename'])
    .where('version_id', '=', versionId)
    .where(algorithmOf(hash) ?? 'sha1', '=', hash.toLowerCase())
    .orderBy('id')
    .executeTakeFirst()
}

/** A file as a request names it. */
type FileName = { hash: string; algorithm?: Algorithm | undefined; version_id?: string | undefined }

/** @throws ApiError 404 when the hash is unknown or hidden. */
export async function resolveFile(reader: FileReader, viewer: Viewer | null, named: FileName): Promise<ResolvedFile> {
  const { hash, algorithm, version_id: versionId } = named
  if (versionId !== undefined) parseId(versionId, 'version_id')
  const [file] = await resolveFiles(reader, viewer, { hashes: [hash], algorithm, versionId })
  if (file === undefined) throw notFound('file')
  return file
}

/** The same with the file itself. */
export async function getFile(reader: FileReader, viewer: Viewer | null, named: FileName) {
  const place = await resolveFile(reader, viewer, named)
  const file = await findFileIn(reader.db, place.versionId, named.hash)
  if (file === undefined) throw notFound('file')
  return { ...place, ...file }
}

export type UpdateCheck = { projectId: string; filter: VersionFilter }

/** Different filters for files of one project in one request: each goes through the versions of the project again. */
export const FILTERS_PER_PROJECT_MAX = 32
/** Different filters in one statement. */
const FILTERS_PER_STATEMENT = 64

/** Projects whose lists are gone through under one filter, and what stood first in them. */
type Round = { filter: VersionFilter; text: string; found: Map<string, string | undefined> }

/**
 * For each check the version that stands first in its project's list under its filter; undefined where none passes.
 * A viewer who sees the project sees each of these. One statement for every 64 different filters, for what is not known.
 * @throws ApiError `invalid_input` when one project comes with too many different filters.
 */
export async function listUpdates(reader: FileReader, checks: readonly UpdateCheck[]): Promise<(string | undefined)[]> {
  const rounds = roundsOf(checks)
  refuseManyFilters(checks, rounds)
  const unknown = new Set<Round>()
  const known = checks.map(({ projectId, filter }) => {
    const round = rounds.get(filter)
    const first = round === undefined ? undefined : peekFirstVersion(reader, projectId, round.text)
    if (round === undefined || first !== undefined) return first
    round.found.set(projectId, undefined)
    unknown.add(round)
    return undefined
  })
  if (unknown.size > 0) await findFirsts(reader, [...unknown])
  return checks.map(({ projectId, filter }, index) => {
    const first = known[index]
    return first === undefined ? rounds.get(filter)?.found.get(projectId) : (first ?? undefined)
  })
}

/** Asks the database what stands first in the projects of the rounds, and keeps it. */
async function findFirsts(reader: FileReader, rounds: readonly Round[]): Promise<void> {
  const finds = await listLookupResults(reader, new Set(rounds.flatMap(({ found }) => [...found.keys()])))
  for (let start = 0; start < rounds.length; start += FILTERS_PER_STATEMENT) {
    const part = rounds.slice(start, start + FILTERS_PER_STATEMENT)
    const { rows } = await sql<{ round: number; project_id: string; id: string }>`${sql.join(
      part.map(listFirst),
      sql` union all `,
    )}`.execute(reader.db)
    for (const { round, project_id, id } of rows) part[round]?.found.set(project_id, id)
  }
  for (const { text, found } of rounds) {
    for (const [projectId, first] of found) {
      const known = finds.get(projectId)
      if (known !== undefined) storeFirstVersion(reader, known, text, first)
    }
  }
}

/** The round of each filter: filters that say the same are one. */
function roundsOf(checks: readonly UpdateCheck[]): Map<VersionFilter, Round> {
  const byFilter = new Map<VersionFilter, Round>()
  const byText = new Map<string, Round>()
  for (const { filter } of checks) {
    if (byFilter.has(filter)) continue
    const text = JSON.stringify(filter)
    const round = byText.get(text) ?? { filter, text, found: new Map() }
    byText.set(text, round)
    byFilter.set(filter, round)
  }
  return byFilter
}

function refuseManyFilters(checks: readonly UpdateCheck[], rounds: ReadonlyMap<VersionFilter, Round>): void {
  if (new Set(rounds.values()).size <= FILTERS_PER_PROJECT_MAX) return
  const asked = new Map<string, Set<Round | undefined>>()
  for (const { projectId, filter } of checks) {
    const own = asked.get(projectId) ?? new Set()
    own.add(rounds.get(filter))
    asked.set(projectId, own)
    if (own.size > FILTERS_PER_PROJECT_MAX) {
      throw invalidInput(`At most ${FILTERS_PER_PROJECT_MAX} different filters for files of one project`, 'hashes')
    }
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
