// Selects random projects with equal probability, without reading the whole catalogue.
import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { getStatistics } from '#features/basics/statistics/queries.ts'
import { invalidInput } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import { loadersOf } from '#taxonomy/taxonomy.ts'
import { type CachedProject, listVisibleProjects, type ProjectReader } from './project-cache.ts'

export const RandomQuery = Type.Object({
  count: Type.Integer({ minimum: 1, maximum: 100, description: 'Maximum number of projects' }),
  project_type: Type.Optional(Type.String({ maxLength: 64, description: 'Only projects of this type' })),
})
export type RandomQuery = Static<typeof RandomQuery>

/** Number of values of `project.random_key`, a random number that each project gets once. */
const KEYS = 2 ** 31
/** Up to this number of projects, all IDs are read and shuffled. */
const READ_ALL_MAX = 1_000
/** Minimum number of candidates, so that projects with adjacent keys rarely appear together. */
const CANDIDATES_MIN = 200
/** Limits of the search: rounds, key ranges per round, and projects examined. */
const ROUNDS_MAX = 3
const RANGES_MAX = 2_000
const EXAMINED_MAX = 40_000

/** Returns random public projects. @throws ApiError `invalid_input` for an unknown project type. */
export async function listRandomProjects(
  reader: ProjectReader,
  viewer: Viewer | null,
  { count, project_type: type }: RandomQuery,
): Promise<CachedProject[]> {
  const { db, taxonomy } = reader
  if (type !== undefined && !taxonomy.projectTypes.includes(type))
    throw invalidInput(`The project type ${type} does not exist`, 'project_type')
  const { projects: total } = await getStatistics(db)
  const filter = type === undefined ? {} : { loaders: loadersOf(taxonomy, type) }
  return listVisibleProjects(reader, viewer, await listRandomProjectIds(db, { count, total, ...filter }, Math.random))
}

export type RandomChoice = {
  /** 1 to 100. */
  count: number
  /** Number of projects before the filter. */
  total: number
  /** Only projects with a listed version for one of these loaders. */
  loaders?: readonly string[]
}

/**
 * Returns IDs of different approved and archived projects in random order: `count`, or all if fewer match.
 *
 * The keys are divided into equal ranges that contain one project on average. The function reads all projects of random
 * ranges until it has enough candidates, and returns a random part of these. Each project is equally likely to be read;
 * the number of other projects in its range changes its probability by about 0.5 %. Reading from one random key onward
 * would prefer projects after a gap. If the filter is so selective that the search would examine more projects than
 * match, the function lists all matches instead.
 * @param random returns a number from 0 (inclusive) to 1 (exclusive).
 */
export async function listRandomProjectIds(db: Db, choice: RandomChoice, random: () => number): Promise<string[]> {
  const { count, total, loaders } = choice
  if (total <= READ_ALL_MAX) return shuffle(await listAll(db, loaders), random).slice(0, count)
  const candidates = await listCandidates(db, choice, random)
  const isEnough = loaders === undefined || candidates.length >= count
  return shuffle(isEnough ? candidates : await listAll(db, loaders), random).slice(0, count)
}

/** Returns projects of random key ranges; too few if listing all matches is cheaper. */
async function listCandidates(
  db: Db,
  { count, total, loaders }: RandomChoice,
  random: () => number,
): Promise<string[]> {
  const target = Math.max(CANDIDATES_MIN, 2 * count)
  const ids = new Set<string>()
  let examined = 0
  for (let round = 0; round < ROUNDS_MAX && ids.size < target && examined < EXAMINED_MAX; round += 1) {
    // The share of examined projects that matched the filter in earlier rounds.
    const share = round === 0 ? 1 : Math.max(ids.size, 0.5) / examined
    // The reserve makes one round nearly always sufficient.
    const needed = Math.ceil((1.3 * (target - ids.size)) / share)
    if (needed > share * total) break
    const toExamine = Math.min(needed, EXAMINED_MAX - examined)
    const ranges = Math.min(toExamine, RANGES_MAX)
    const width = Math.ceil((KEYS / total) * (toExamine / ranges))
    for (const id of await listRanges(db, { starts: drawStarts(ranges, width, random), width, loaders })) ids.add(id)
    examined += toExamine
  }
  return [...ids]
}

/** Returns the first keys of different ranges. */
function drawStarts(ranges: number, width: number, random: () => number): number[] {
  const starts = new Set<number>()
  const all = Math.ceil(KEYS / width)
  while (starts.size < Math.min(ranges, all)) starts.add(Math.floor(random() * all) * width)
  return [...starts]
}

/** Returns all matching projects in these ranges. Without a filter, the statement reads only the index. */
async function listRanges(
  db: Db,
  { starts, width, loaders }: { starts: number[]; width: number; loaders: readonly string[] | undefined },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select project.id from unnest(${starts}::bigint[]) as stretch (start)
    cross join lateral (
      select project.id from project
      where random_key >= stretch.start and random_key < stretch.start + ${width}::bigint and ${isEligible(loaders)}
    ) project`.execute(db)
  return rows.map(({ id }) => id)
}

/** Returns all matching projects. `offset 0` prevents the database from reading all projects if there is a filter. */
async function listAll(db: Db, loaders: readonly string[] | undefined): Promise<string[]> {
  const query =
    loaders === undefined
      ? sql<{ id: string }>`select id from project where ${IS_SEARCHABLE}`
      : sql<{ id: string }>`
        select project.id from (select distinct project_id from version where ${IS_LISTED} and ${isFor(loaders)}) named
        cross join lateral (
          select id from project where project.id = named.project_id and ${IS_SEARCHABLE} offset 0
        ) project`
  const { rows } = await query.execute(db)
  return rows.map(({ id }) => id)
}

// The conditions must be the same as in the indexes.
const IS_SEARCHABLE = sql`is_searchable(project.status)`
const IS_LISTED = sql`is_listed(version.status)`

function isEligible(loaders: readonly string[] | undefined) {
  if (loaders === undefined) return IS_SEARCHABLE
  // `is true` prevents the use of the index on loaders: reading it for each range costs more than it saves.
  return sql`${IS_SEARCHABLE} and exists (
    select 1 from version where version.project_id = project.id and ${IS_LISTED} and (${isFor(loaders)}) is true)`
}

function isFor(loaders: readonly string[]) {
  return sql`version.loaders && ${[...loaders]}::text[]`
}

/** Shuffles the items in place (Fisher-Yates). */
function shuffle(items: string[], random: () => number): string[] {
  for (let i = items.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1))
    const [a, b] = [items[i], items[j]]
    if (a !== undefined && b !== undefined) [items[i], items[j]] = [b, a]
  }
  return items
}
