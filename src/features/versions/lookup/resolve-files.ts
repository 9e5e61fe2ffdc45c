// From the hashes of files to versions, for every route that takes hashes: one resolver, so that all of them agree on
// what a hash stands for and who may know it. What is hidden is left out before anything is chosen.
import { sql } from 'kysely'
import type { EntityCache } from '#cache/entity-cache.ts'
import type { Db } from '#db/db.ts'
import { invalidInput, notFound } from '#lib/errors.ts'
import { parseId } from '#lib/ids.ts'
import type { Viewer } from '#lib/viewer.ts'
import { versionVisibleTo } from '../policy.ts'
import { isListedAndPasses, LIST_ORDER, type VersionFilter } from './version-filter.ts'
import { type FoundFile, fileKey, findFiles, keepFirst, listFinds } from './version-finds.ts'

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

/** What resolving reads from. */
export type FileReader = { db: Db; cache: EntityCache }

/**
 * Where the file is that each hash stands for, keyed by the hash as it was asked for; unknown and hidden ones are left
 * out. Of several versions with the same file the one published last counts. One statement for each algorithm, which
 * reads indexes alone; none for what everybody sees and is known already.
 */
export async function resolveFiles(
  reader: FileReader,
  viewer: Viewer | null,
  query: HashQuery,
): Promise<Map<string, ResolvedFile>> {
  const { versionId } = query
  const wanted = query.hashes.map((asked) => {
    const hash = asked.toLowerCase()
    return { asked, key: fileKey(query.algorithm ?? algorithmOf(hash), hash) }
  })
  const keys = wanted.map(({ key }) => key)
  const files = new Map<string, ResolvedFile>()
  if (viewer === null && versionId === undefined) {
    const found = await findFiles(reader, keys, (missing) => listFiles(reader.db, null, { keys: missing, versionId }))
    for (const { asked, key } of wanted) {
      const finds = found.get(key)
      const known = finds?.files.get(key)
      if (finds !== undefined && known !== undefined) files.set(asked, { versionId: known, projectId: finds.projectId })
    }
    return files
  }
  const rows = await listFiles(reader.db, viewer, { keys, versionId })
  const found = new Map(rows.map((file) => [file.key, file]))
  for (const { asked, key } of wanted) {
    const file = found.get(key)
    if (file !== undefined) files.set(asked, { versionId: file.versionId, projectId: file.projectId })
  }
  return files
}

/** The same by keys, from the database. */
async function listFiles(
  db: Db,
  viewer: Viewer | null,
  { keys, versionId }: { keys: readonly string[]; versionId: string | undefined },
): Promise<FoundFile[]> {
  const files: FoundFile[] = []
  for (const algorithm of ALGORITHMS) {
    const prefix = fileKey(algorithm, '')
    const hashes = keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length))
    if (hashes.length === 0) continue
    for (const { hash, ...place } of await listNewestFiles(db, viewer, { algorithm, hashes, versionId })) {
      files.push({ key: fileKey(algorithm, hash), ...place })
    }
  }
  return files
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
export async function resolveFile(reader: FileReader, viewer: Viewer | null, named: FileName): Promise<ResolvedFile> {
  const { hash, algorithm, version_id: versionId } = named
  if (versionId !== undefined) parseId(versionId, 'version_id')
  const file = (await resolveFiles(reader, viewer, { hashes: [hash], algorithm, versionId })).get(hash)
  if (file === undefined) throw notFound('file')
  return file
}

/** The same with the file itself. */
export async function getFile(reader: FileReader, viewer: Viewer | null, named: FileName) {
  const place = await resolveFile(reader, viewer, named)
  const file = await findFileIn(reader.db, place.versionId, named)
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
  const rounds = groupByFilter(checks)
  const all = [...new Set(rounds)]
  refuseManyFilters(all)
  const finds = await listFinds(reader, new Set(checks.map(({ projectId }) => projectId)))
  const unknown: Asked[] = []
  for (const round of all) {
    const projectIds: string[] = []
    for (const projectId of round.found.keys()) {
      const first = finds.get(projectId)?.firsts.get(round.text)
      if (first === undefined) projectIds.push(projectId)
      else round.found.set(projectId, first ?? undefined)
    }
    if (projectIds.length > 0) unknown.push({ round, projectIds })
  }
  for (let start = 0; start < unknown.length; start += FILTERS_PER_STATEMENT) {
    const part = unknown.slice(start, start + FILTERS_PER_STATEMENT)
    const { rows } = await sql<{ round: number; project_id: string; id: string }>`${sql.join(
      part.map(listFirst),
      sql` union all `,
    )}`.execute(reader.db)
    for (const { round, project_id, id } of rows) part[round]?.round.found.set(project_id, id)
  }
  for (const { round, projectIds } of unknown) {
    for (const projectId of projectIds) {
      const known = finds.get(projectId)
      if (known !== undefined) keepFirst(reader, known, round.text, round.found.get(projectId))
    }
  }
  return checks.map(({ projectId }, index) => rounds[index]?.found.get(projectId))
}

/** A round, and those of its projects that the database must be asked about. */
type Asked = { round: Round; projectIds: string[] }

/** The round of each check. */
function groupByFilter(checks: readonly UpdateCheck[]): Round[] {
  const byObject = new Map<VersionFilter, Round>()
  const byText = new Map<string, Round>()
  return checks.map(({ projectId, filter }) => {
    let round = byObject.get(filter)
    if (round === undefined) {
      const text = JSON.stringify(filter)
      round = byText.get(text) ?? { filter, text, found: new Map() }
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

function listFirst({ round: { filter }, projectIds }: Asked, round: number) {
  return sql`select ${sql.lit(round)} as round, asked.project_id, first.id
    from unnest(${projectIds}::text[]) as asked (project_id)
    cross join lateral (
      select version.id from version
      where version.project_id = asked.project_id and ${isListedAndPasses(filter)}
      order by ${LIST_ORDER} limit 1) first`
}
