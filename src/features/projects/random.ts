// Random projects, each as likely as any other, without reading the catalogue (docs/decisions/0008-random-projects.md).
import { sql } from 'kysely'
import type { Db } from '#db/db.ts'
import { SEARCHABLE_STATUSES } from './status.ts'

/** Each project lies at a random point of this line for ever. */
const LINE = 2 ** 31
/** A stretch of the line holds so many on average… */
const STRETCH_MEAN = 8
/** …and has so many seats. That more of them lie in one stretch is less likely than one in a thousand million. */
const STRETCH_SEATS = 32
/** Up to here all are read and shuffled. */
const READ_ALL_MAX = 1_000
const STRETCHES_PER_ROUND_MAX = 2_000
const ROUNDS_MAX = 8
/** A rare type widens the stretches by this at most, which bounds what one round reads. */
const WIDENING_MAX = 64

export type RandomChoice = {
  /** 1 to 100. */
  count: number
  /** How many projects there are to choose from, before the filter. */
  total: number
  /** Only projects with a listed version for one of these loaders. */
  loaders?: readonly string[]
}

/**
 * IDs of approved and archived projects, different ones, in random order; fewer than asked for where there are fewer,
 * and, in large catalogues, where very few pass the filter.
 *
 * The line is cut into equal stretches. A draw takes a stretch and a seat in it, both at random; where the seat is
 * empty, it is drawn again. So every project is as likely as any other, however unevenly they lie.
 * @param random from 0 up to, and without, 1.
 */
export async function listRandomProjectIds(db: Db, choice: RandomChoice, random: () => number): Promise<string[]> {
  if (choice.total <= READ_ALL_MAX) return shuffle(await listAll(db, choice.loaders), random).slice(0, choice.count)
  const chosen = new Set<string>()
  let widening = 1
  for (let round = 0; round < ROUNDS_MAX && chosen.size < choice.count; round += 1) {
    const stretches = Math.max(1, Math.round(choice.total / (STRETCH_MEAN * widening)))
    const wanted = Math.ceil((choice.count - chosen.size) * (STRETCH_SEATS / STRETCH_MEAN) * 1.2) + 8
    const draws = Array.from({ length: Math.min(wanted, Math.ceil(STRETCHES_PER_ROUND_MAX / widening)) }, () => ({
      stretch: Math.floor(random() * stretches),
      seat: Math.floor(random() * STRETCH_SEATS),
    }))
    const seated = await listStretches(db, { draws, width: Math.ceil(LINE / stretches), loaders: choice.loaders })
    for (const [index, { seat }] of draws.entries()) {
      const id = seated[index]?.[seat]
      if (id !== undefined && chosen.size < choice.count) chosen.add(id)
    }
    widening = nextWidening(widening, seated)
  }
  return [...chosen]
}

/** The IDs in each drawn stretch, in a fixed order. One statement, from the index alone. */
async function listStretches(
  db: Db,
  {
    draws,
    width,
    loaders,
  }: { draws: readonly { stretch: number }[]; width: number; loaders: readonly string[] | undefined },
): Promise<string[][]> {
  const starts = draws.map(({ stretch }) => stretch * width)
  const { rows } = await sql<{ index: number; ids: string[] }>`
    select stretch.index::int as index, array_agg(project.id order by project.id) as ids
    from unnest(${starts}::bigint[]) with ordinality as stretch (start, index)
    cross join lateral (
      select id from project where random_key >= stretch.start and random_key < stretch.start + ${width}::bigint
        and ${isEligible(loaders)}) project
    group by stretch.index`.execute(db)
  const seated: string[][] = draws.map(() => [])
  for (const { index, ids } of rows) seated[index - 1] = ids
  return seated
}

/** Where few pass the filter, wider stretches find as many in fewer draws. */
function nextWidening(widening: number, seated: readonly string[][]): number {
  const found = seated.reduce((sum, ids) => sum + ids.length, 0)
  const mean = found / seated.length
  // One and a half of what was found, so that a low estimate does not overfill the seats.
  const factor = STRETCH_MEAN / (1.5 * mean + 0.1)
  return factor <= 1 ? widening : Math.min(WIDENING_MAX, widening * factor)
}

async function listAll(db: Db, loaders: readonly string[] | undefined): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from project where ${isEligible(loaders)} order by id`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

function isEligible(loaders: readonly string[] | undefined) {
  const searchable = sql`project.status in (${sql.join(SEARCHABLE_STATUSES.map((status) => sql.lit(status)))})`
  if (loaders === undefined) return searchable
  return sql`${searchable} and exists (select 1 from version where version.project_id = project.id
    and version.status in ('listed', 'archived') and version.loaders && ${[...loaders]}::text[])`
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
