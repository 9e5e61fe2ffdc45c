// Random projects, each as likely as any other, without reading the catalogue.
import { sql } from 'kysely'
import { getStatistics } from '#features/basics/statistics/queries.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { invalidInput } from '#lib/errors.ts'
import type { Db } from '#platform/db/db.ts'
import { loadersOf } from '#platform/taxonomy/taxonomy.ts'
import { type CachedProject, listVisibleProjects, type ProjectReader } from './project-cache.ts'
import type { RandomQuery } from './requests.ts'

/** Each project lies at a random point of this line for ever (`project.random_key`). */
const LINE = 2 ** 31
/** Up to here all are read and shuffled. */
const READ_ALL_MAX = 1_000
/** So many are found before some of them are taken, so that it matters little which projects are neighbours. */
const FOUND_MIN = 200
/** Bounds of the search: rounds, stretches in a round, and projects looked at. */
const ROUNDS_MAX = 3
const STRETCHES_MAX = 2_000
const LOOKED_AT_MAX = 40_000

/**
 * Random projects that everybody may see, as their views.
 * @throws ApiError `invalid_input` for an unknown project type.
 */
export async function listRandomProjects(
  reader: ProjectReader,
  viewer: Viewer | null,
  { count, project_type: type }: RandomQuery,
): Promise<CachedProject[]> {
  const { db, taxonomy } = reader
  if (type !== undefined && !taxonomy.projectTypes.includes(type)) {
    throw invalidInput(`There is no project type of the name ${type}`, 'project_type')
  }
  const { projects: total } = await getStatistics(db)
  const filter = type === undefined ? {} : { loaders: loadersOf(taxonomy, type) }
  return listVisibleProjects(reader, viewer, await listRandomProjectIds(db, { count, total, ...filter }, Math.random))
}

export type RandomChoice = {
  /** 1 to 100. */
  count: number
  /** How many projects there are to choose from, before the filter. */
  total: number
  /** Only projects with a listed version for one of these loaders. */
  loaders?: readonly string[]
}

/**
 * IDs of approved and archived projects, different ones, in random order; fewer than asked for only where there are
 * fewer.
 *
 * The line is cut into equal stretches, with one project each on average. Random stretches are read whole until they
 * gave enough projects, of which a random part is the answer. Every project is equally likely to be read; that it then
 * shares with more or fewer neighbours moves its chance by about half a percent. A walk from one random point would
 * favour those behind a gap, many times over for single projects, and always give the same neighbours together.
 *
 * Where so few pass the filter that there are fewer of them than projects to look at, all of them are listed instead.
 * @param random from 0 up to, and without, 1.
 */
export async function listRandomProjectIds(db: Db, choice: RandomChoice, random: () => number): Promise<string[]> {
  const { count, total, loaders } = choice
  if (total <= READ_ALL_MAX) return shuffle(await listAll(db, loaders), random).slice(0, count)
  const found = await findSome(db, choice, random)
  const isEnough = loaders === undefined || found.length >= count
  return shuffle(isEnough ? found : await listAll(db, loaders), random).slice(0, count)
}

/** Projects of random stretches; too few of them where the filter makes a list of all the cheaper way. */
async function findSome(db: Db, { count, total, loaders }: RandomChoice, random: () => number): Promise<string[]> {
  const wanted = Math.max(FOUND_MIN, 2 * count)
  const found = new Set<string>()
  let lookedAt = 0
  for (let round = 0; round < ROUNDS_MAX && found.size < wanted && lookedAt < LOOKED_AT_MAX; round += 1) {
    // How many of those looked at pass the filter, by what is known so far.
    const share = round === 0 ? 1 : Math.max(found.size, 0.5) / lookedAt
    // A little more, so that one round is nearly always enough.
    const needed = Math.ceil((1.3 * (wanted - found.size)) / share)
    if (needed > share * total) break
    const toLookAt = Math.min(needed, LOOKED_AT_MAX - lookedAt)
    const stretches = Math.min(toLookAt, STRETCHES_MAX)
    const width = Math.ceil((LINE / total) * (toLookAt / stretches))
    for (const id of await listStretches(db, { starts: drawStarts(stretches, width, random), width, loaders }))
      found.add(id)
    lookedAt += toLookAt
  }
  return [...found]
}

/** Beginnings of different stretches of the line. */
function drawStarts(stretches: number, width: number, random: () => number): number[] {
  const starts = new Set<number>()
  const all = Math.ceil(LINE / width)
  while (starts.size < Math.min(stretches, all)) starts.add(Math.floor(random() * all) * width)
  return [...starts]
}

/** All that lie in these stretches. One statement; without a filter it reads the index alone. */
async function listStretches(
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

/** All there are. With a filter only what passes it is read: `offset 0` keeps the database from reading all projects. */
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

// Indexes have the same conditions.
const IS_SEARCHABLE = sql`is_searchable(project.status)`
const IS_LISTED = sql`is_listed(version.status)`

function isEligible(loaders: readonly string[] | undefined) {
  if (loaders === undefined) return IS_SEARCHABLE
  // `is true` hides the condition from the index of loaders: read for each stretch, it costs more than it saves.
  return sql`${IS_SEARCHABLE} and exists (
    select 1 from version where version.project_id = project.id and ${IS_LISTED} and (${isFor(loaders)}) is true)`
}

function isFor(loaders: readonly string[]) {
  return sql`version.loaders && ${[...loaders]}::text[]`
}

/** Fisher-Yates. */
function shuffle(items: string[], random: () => number): string[] {
  for (let i = items.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1))
    const [a, b] = [items[i], items[j]]
    if (a !== undefined && b !== undefined) [items[i], items[j]] = [b, a]
  }
  return items
}
