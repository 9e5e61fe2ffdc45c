// Choosing versions for 1,000 items in 20,000 projects with five versions each: processor time, statements, and how long
// other requests wait. node bench/main.ts resolve
import { sql } from 'kysely'
import pg from 'pg'
import { type ResolveDeps, resolveItems } from '#features/catalogue/resolve/resolve-items.ts'
import { createEntityCache } from '#platform/cache/entity-cache.ts'
import { createDb, createPool, type Db } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import { loadTaxonomy } from '#taxonomy/taxonomy.ts'
import { fill } from './kit/fill.ts'
import { withPostgres } from './kit/own-postgres.ts'
import { figure, type Row, row } from './kit/table.ts'

const PROJECTS = 20_000
const ITEMS = 1000
/** The first rounds are for the compiler. */
const WARM_UP = 4
const ROUNDS = 14
const FILTER = { loaders: ['fabric'], game_versions: ['1.20.1'] }

export function benchResolve(): Promise<Row[]> {
  return withPostgres(async (connectionString) => {
    const pool = createPool({ connectionString }, { max: 4, applicationName: 'depot-bench' })
    // Filling takes longer than a statement of the service may take.
    const filling = new pg.Pool({ connectionString, max: 2 })
    let statements = 0
    try {
      await migrate(pool)
      const db = createDb(pool, () => {
        statements += 1
      })
      await fill(createDb(filling), { projects: PROJECTS, versionsEach: 5 })
      await addRequirements(createDb(filling))
      const metrics = createMetrics({ process: false })
      const deps: ResolveDeps = {
        ...loadTaxonomy(),
        config: { files: { baseUrl: 'http://localhost' } },
        db,
        cache: createEntityCache({ maxBytes: 1_000_000 }),
        metrics,
      }
      const takeCount = (): number => {
        const count = statements
        statements = 0
        return count
      }
      return [...(await fits(deps, takeCount)), ...(await conflicts(deps))]
    } finally {
      await filling.end()
      await pool.end()
    }
  })
}

/** Adds requirements: 70 % of the projects require projects of the next 20 %, and these of the last 10 %. */
async function addRequirements(db: Db): Promise<void> {
  await sql`create table ranked as select id, row_number() over (order by id) as rank from project`.execute(db)
  await sql`create unique index on ranked (rank)`.execute(db)
  const layers = [
    { from: 0, to: 0.7, chance: 0.8, first: 0.7, width: 0.2 },
    { from: 0.7, to: 0.9, chance: 0.6, first: 0.9, width: 0.1 },
  ]
  for (const { from, to, chance, first, width } of layers) {
    await sql`insert into dependency (dependent_id, project_id, dependency_type)
      select version.id, target.id, 'required' from ranked own
      join version on version.project_id = own.id
      cross join generate_series(1, 2) n
      join ranked target on target.rank = 1 + floor((${first}::float8 + ${width}::float8
        * abs(hashtext(version.id || n)) / 2147483648.0) * ${PROJECTS}::integer)
      where own.rank > ${from * PROJECTS}::float8 and own.rank <= ${to * PROJECTS}::float8
        and abs(hashtext(n || version.id)) / 2147483648.0 < ${chance}::float8`.execute(db)
  }
  await sql`vacuum analyze`.execute(db)
}

type Cost = { cpuMs: number; wallMs: number; blockedMs: number | undefined; chosen: number; exact: boolean }

async function cost(deps: ResolveDeps, round: number): Promise<Cost> {
  const { rows } = await sql<{ id: string }>`select id from ranked where rank <= ${PROJECTS * 0.7}::float8
    order by md5(id || ${String(round)}) limit ${ITEMS}`.execute(deps.db)
  const items = rows.map(({ id }) => ({ project: id }))
  // Watching the turns costs processor time itself, so every second round does it.
  const watch = round % 2 === 0 ? watchTurns() : undefined
  const before = process.cpuUsage()
  const startedAt = performance.now()
  const answer = await resolveItems(deps, { items, ...FILTER })
  const { user, system } = process.cpuUsage(before)
  const wallMs = performance.now() - startedAt
  const { exact } = JSON.parse(answer.content) as { exact: boolean }
  const blockedMs = watch?.end()
  return { cpuMs: (user + system) / 1000, wallMs, blockedMs, chosen: answer.files.length, exact }
}

/**
 * Measures the longest turn of the event loop, by the processor time of its thread: on a busy machine, the time on the clock
 * would include that of other programs.
 */
function watchTurns(): { end: () => number } {
  let longest = 0
  let isRunning = true
  let before = threadMs()
  const look = (): void => {
    const now = threadMs()
    longest = Math.max(longest, now - before)
    before = now
    if (isRunning) setImmediate(look)
  }
  setImmediate(look)
  return {
    end: () => {
      look()
      isRunning = false
      return longest
    },
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function costs(deps: ResolveDeps): Promise<Cost[]> {
  const all: Cost[] = []
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) all.push(await cost(deps, round))
  return all.slice(WARM_UP)
}

const unwatched = (measured: readonly Cost[]): Cost[] => measured.filter(({ blockedMs }) => blockedMs === undefined)

/** The median of the rounds, because a collection of garbage can fall into any turn. */
const longestTurn = (measured: readonly Cost[]): number => median(measured.flatMap(({ blockedMs }) => blockedMs ?? []))

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

async function fits(deps: ResolveDeps, takeCount: () => number): Promise<Row[]> {
  const measured = await costs(deps)
  takeCount()
  const { chosen } = await cost(deps, 1)
  // One statement reads the items of the bench.
  const statements = takeCount() - 1
  const of = (key: 'cpuMs' | 'wallMs') => unwatched(measured).map((each) => each[key])
  const spread = `${Math.min(...of('cpuMs')).toFixed(0)} to ${Math.max(...of('cpuMs')).toFixed(0)} in ${ROUNDS / 2} rounds`
  return [
    row(`processor time for ${ITEMS} items without conflicts`, median(of('cpuMs')), { atMost: 150 }, ' ms', spread),
    row('longest time without a turn for others', longestTurn(measured), { atMost: 20 }, ' ms'),
    row('its statements, for three levels', statements, { atMost: 14 }),
    figure('chosen versions', String(chosen)),
    figure('time with the database', `${median(of('wallMs')).toFixed(0)} ms`),
  ]
}

/** 1 % of the requirements become incompatibilities. */
async function conflicts(deps: ResolveDeps): Promise<Row[]> {
  await sql`update dependency set dependency_type = 'incompatible' where id % 100 = 0`.execute(deps.db)
  const measured = await costs(deps)
  const of = (key: 'cpuMs' | 'wallMs') => median(unwatched(measured).map((each) => each[key]))
  const exact = measured.filter((each) => each.exact).length
  return [
    row('with conflicts, longest time without a turn for others', longestTurn(measured), { atMost: 20 }, ' ms'),
    figure(
      'with conflicts',
      `${of('cpuMs').toFixed(0)} ms of processor, ${of('wallMs').toFixed(0)} ms, ${exact} of ${ROUNDS} exact`,
    ),
  ]
}
