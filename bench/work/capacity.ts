// The costs that docs/operators/capacity.md uses, at two sizes, and whether those of the smaller size predict the larger one.
import { sql } from 'kysely'
import { createDb, createPool, type Db } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { APPEND_EVENTS_MAX } from '#ports/analytics-store/analytics-store.ts'
import { openDuckDbStore } from '#ports/analytics-store/duckdb/store.ts'
import { batchOf } from '#test/support/factories/analytics-events.ts'
import { sampleWords, seededRandom } from '#test/support/factories/search-catalogue.ts'
import { makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { fill } from '../kit/fill.ts'
import { author } from '../kit/publish.ts'
import { ADDRESS_HEADER, call, cpuSeconds, cpuSecondsOfAll, load, startBenchDepot } from '../kit/servers.ts'
import { figure, type Row, row } from '../kit/table.ts'
import { randomEvents, randomSource, sizeOf } from './random-events.ts'

const [SMALL, LARGE] = [20_000, 100_000] as const
const VERSIONS_EACH = 5
const FOLLOWS_EACH = 32
/** Different resources that the reads request. */
const READ = 500
const SEED = 1
/** Different searches. */
const SEARCHES = 200
const WRITES = 100
const SECONDS = 2
const VIEWS = 2_000
const EVENTS_EACH = 20
const TABLES = ['project', 'version', 'file', 'dependency', 'follow', 'account', 'team_member'] as const

/** Costs by name, with their unit. */
type Costs = { bytes: Record<string, number>; ms: Record<string, number> }

export async function benchCapacity(): Promise<Row[]> {
  const [small, large] = [await costsOf(SMALL), await costsOf(LARGE)]
  const both = (unit: string, digits: number, part: keyof Costs): Row[] =>
    Object.keys(small[part]).map((what) => {
      const values = [small, large].map((costs) => `${(costs[part][what] ?? 0).toFixed(digits)} ${unit}`)
      return figure(what, values.join('; '))
    })
  const predicted = (what: string, guess: number, measured = 0): Row =>
    row(
      `${what} at ${LARGE} projects: deviation of the prediction`,
      Math.abs(guess / measured - 1),
      { atMost: 0.25 },
      '',
      `predicted ${guess.toFixed(0)}, measured ${measured.toFixed(0)}`,
    )
  return [
    ...both('bytes', 0, 'bytes'),
    ...both('ms', 3, 'ms'),
    predicted(
      'MB of PostgreSQL',
      ((small.bytes['database per project'] ?? 0) * LARGE) / 1e6,
      ((large.bytes['database per project'] ?? 0) * LARGE) / 1e6,
    ),
    ...Object.keys(small.ms).map((what) =>
      predicted(`µs of ${what}`, (small.ms[what] ?? 0) * 1000, (large.ms[what] ?? 0) * 1000),
    ),
  ]
}

async function costsOf(projects: number): Promise<Costs> {
  const { dataDir, remove } = makeDataDir()
  let server: RunningDepot | undefined
  try {
    const bytes = await withDatabase(dataDir, async (db) => {
      const before = await databaseBytes(db)
      await fillAll(db, projects)
      await nameProjects(db)
      return sizes(db, { before, projects })
    })
    bytes['event in DuckDB'] = await bytesPerEvent(projects)
    const token = await author(dataDir)
    server = await startBenchDepot(dataDir)
    const startedAt = performance.now()
    await untilBuilt(server, projects)
    const buildSeconds = (performance.now() - startedAt) / 1000
    await server.stop()
    server = await startBenchDepot(dataDir)
    await untilBuilt(server, projects)
    const ms = await timesOf(server, token)
    return { bytes, ms: { ...ms, 'first build of the index, per project': (buildSeconds * 1000) / projects } }
  } finally {
    await server?.stop()
    remove()
  }
}

export async function withDatabase<T>(dataDir: string, act: (db: Db) => Promise<T>): Promise<T> {
  const database = await startEmbeddedPostgres({ dataDir, holder: 'server', log: silentLog() })
  const pool = createPool(database.connection, { max: 2, applicationName: 'depot-bench' })
  try {
    await migrate(pool)
    return await act(createDb(pool))
  } finally {
    await pool.end()
    await database.stop()
  }
}

/** Projects with versions, files, an account and followers each; every version has one dependency. */
export async function fillAll(db: Db, projects: number): Promise<void> {
  // In parts, because a statement has a time limit.
  for (let done = 0; done < projects; done += SMALL)
    await fill(db, { projects: Math.min(SMALL, projects), versionsEach: VERSIONS_EACH })
  await db.transaction().execute(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx)
    await sql`set local session_replication_role = replica`.execute(tx)
    await sql`insert into account (id, username, email) select 'a' || n, 'person-' || n, 'person-' || n || '@example.org'
      from generate_series(1, ${projects}::integer) n`.execute(tx)
    for (let n = 1; n <= FOLLOWS_EACH; n += 1) {
      await sql`insert into follow (account_id, project_id)
        select 'a' || (1 + (row_number() over (order by id) * 7919 + ${n}::integer * 104729) % ${projects}::integer), id
        from project on conflict do nothing`.execute(tx)
    }
    await sql`insert into dependency (dependent_id, project_id, dependency_type)
      select version.id, (array(select id from project limit 1000))[1 + abs(hashtext(version.id)) % 1000], 'required'
      from version`.execute(tx)
  })
  await sql`vacuum analyze`.execute(db)
}

/** Gives each project a name of 1 to 3 words and a summary of 6 to 13; the frequencies of the words follow Zipf's law. */
async function nameProjects(db: Db): Promise<void> {
  const words = sampleWords(SEED)
  // The condition lets PostgreSQL choose words for each row.
  const text = (least: number, most: number) => sql`(
    select string_agg((${words}::text[])[floor(${words.length}::integer ^ random())], ' ')
    from generate_series(1, ${least}::integer + floor(${most - least + 1}::integer * random())::integer)
    where project.id is not null)`
  await db.transaction().execute(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx)
    await sql`set local session_replication_role = replica`.execute(tx)
    await sql`update project set name = ${text(1, 3)}, summary = ${text(6, 13)}`.execute(tx)
  })
  await sql`vacuum full analyze project`.execute(db)
}

/** Searches for one or two words of names, every third with the last word incomplete. */
function searchPaths(): string[] {
  const words = sampleWords(SEED)
  const random = seededRandom(SEED)
  const word = () => words[Math.floor(words.length ** random()) - 1] ?? ''
  return Array.from({ length: SEARCHES }, (_, n) => {
    const query = n % 2 === 0 ? word() : `${word()} ${word()}`
    return `/v3/search?limit=20&query=${encodeURIComponent(n % 3 === 0 ? query.slice(0, -2) : query)}`
  })
}

async function databaseBytes(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`select pg_database_size(current_database()) as bytes`.execute(db)
  return Number(rows[0]?.bytes)
}

/** Bytes per row with its indexes, and of the whole database per project. */
async function sizes(db: Db, { before, projects }: { before: number; projects: number }): Promise<Costs['bytes']> {
  const costs: Costs['bytes'] = {}
  for (const table of TABLES) {
    const { rows } = await sql<{ each: string }>`
      select pg_total_relation_size(${table}) / greatest(1, count(*)) as each from ${sql.table(table)}`.execute(db)
    costs[`row of ${table}`] = Number(rows[0]?.each)
  }
  costs['database per project'] = ((await databaseBytes(db)) - before) / projects
  return costs
}

async function bytesPerEvent(projects: number): Promise<number> {
  const { dataDir: dir, remove } = makeDataDir()
  try {
    const store = await openDuckDbStore({ dir })
    const size = { projects, events: projects * EVENTS_EACH }
    const random = randomSource(1)
    for (let done = 0; done < size.events; done += APPEND_EVENTS_MAX) {
      const { views, downloads } = randomEvents(random, done, size)
      await store.append('view', batchOf(views))
      await store.append('download', batchOf(downloads))
    }
    await store.close()
    return (await sizeOf(dir)) / size.events
  } finally {
    remove()
  }
}

/** Waits until searches find the projects; a few of them are archived. */
export async function untilBuilt({ url }: RunningDepot, projects: number): Promise<void> {
  for (;;) {
    const found = await call(`${url}/v3/search?limit=1`)
    const { total_hits = 0 } = found.ok ? ((await found.json()) as { total_hits: number }) : {}
    if (total_hits > projects * 0.9) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Processor time per request: reads in the server, writes and views with the database. */
async function timesOf(server: RunningDepot, token: string): Promise<Costs['ms']> {
  const json = async (path: string) => (await call(`${server.url}${path}`)).json()
  const found = (await json(`/v3/projects_random?count=100`)) as { id: string; versions: string[] }[]
  const ids = found.map(({ id }) => id)
  const versions = found.flatMap((project) => project.versions).slice(0, READ)
  const lists = Array.from(
    { length: 20 },
    (_, n) => `/v3/projects?ids=${encodeURIComponent(JSON.stringify([...ids.slice(n), ...ids.slice(0, n)]))}`,
  )
  const read = async (paths: string[]): Promise<number> => {
    await load(new URL(server.url).port, paths, { seconds: SECONDS / 2 })
    const before = cpuSeconds(server.child)
    const { requests } = await load(new URL(server.url).port, paths, { seconds: SECONDS })
    return ((cpuSeconds(server.child) - before) / requests) * 1000
  }
  return {
    'read of a project': await read(ids.map((id) => `/v3/project/${id}`)),
    'read of a version': await read(versions.map((id) => `/v3/version/${id}`)),
    'list of the versions of a project': await read(ids.map((id) => `/v3/project/${id}/version`)),
    'list of 100 projects': await read(lists),
    search: await read(searchPaths()),
    'write of a project': await costOfAll(server, WRITES, (n) =>
      call(`${server.url}/v3/project/${ids[n % ids.length]}`, {
        method: 'PATCH',
        token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ summary: `Summary ${n}` }),
      }),
    ),
    view: await costOfAll(server, VIEWS, (n) =>
      call(`${server.url}/analytics/view`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', [ADDRESS_HEADER]: `10.1.${n >> 8}.${n & 255}` },
        body: JSON.stringify({ url: `${server.url}/mod/${ids[n % ids.length]}` }),
      }),
    ),
  }
}

async function costOfAll(server: RunningDepot, count: number, send: (n: number) => Promise<Response>): Promise<number> {
  const before = cpuSecondsOfAll(server.child)
  for (let n = 0; n < count; n += 1) {
    const response = await send(n)
    if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`)
  }
  return ((cpuSecondsOfAll(server.child) - before) / count) * 1000
}
