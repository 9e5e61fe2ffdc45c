// Search as clients have it: over HTTP from a server on a full catalogue, its start, its first build, and how soon a
// change is found.
import { execFile } from 'node:child_process'
import { cpus } from 'node:os'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { createDb, createPool, type Db } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import type { SearchDocument } from '#ports/search-index/document.ts'
import { sampleDocuments, sampleWords } from '#test/support/factories/search-catalogue.ts'
import { makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { call, cpuSeconds, load, residentMb, startBenchDepot } from './kit/servers.ts'
import { figure, type Row, row } from './kit/table.ts'

const run = promisify(execFile)
const PROJECTS = 200_000
/** Duration of the searches that are measured while projects change. */
const CHANGE_SECONDS = 60
const VERSIONS = 5
const SEED = 1
const BATCH = 2_000
/** Loaders of the taxonomy for the kinds of projects that the sample has. */
const LOADERS: Readonly<Record<string, readonly string[]>> = {
  mod: ['fabric', 'forge', 'neoforge', 'quilt'],
  modpack: ['mrpack'],
  resourcepack: ['minecraft'],
  shader: ['iris', 'optifine'],
  datapack: ['datapack'],
  plugin: ['paper', 'spigot', 'velocity'],
}

export async function benchSearch(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  let server: RunningDepot | undefined
  try {
    await withDatabase(dataDir, 'server', async (db) => fill(db, PROJECTS))
    server = await startBenchDepot(dataDir)
    const build = await untilBuilt(server)
    const builtMb = residentMb(server.child)
    await server.stop()
    const startedAt = performance.now()
    server = await startBenchDepot(dataDir)
    await call(`${server.url}/ready`)
    const startSeconds = (performance.now() - startedAt) / 1000
    await call(`${server.url}/v3/search?limit=1`)
    const firstSeconds = (performance.now() - startedAt) / 1000
    const restartedMb = residentMb(server.child)
    return [
      figure(`first build of ${PROJECTS} projects out of the database`, `${build.seconds.toFixed(1)} s`),
      figure(
        'other requests during the build',
        `median ${build.medianMs.toFixed(1)} ms, slowest ${build.slowestMs.toFixed(0)} ms`,
      ),
      row(`start to /ready with ${PROJECTS} projects`, startSeconds, { atMost: 2 }, ' s'),
      figure('start to the first search', `${firstSeconds.toFixed(2)} s`),
      ...(await benchLoad(server)),
      ...(await withDatabase(dataDir, 'command', (db) => benchUpdates(server as RunningDepot, db, CHANGE_SECONDS))),
      row(
        'resident memory of the server, search and all else',
        residentMb(server.child),
        { atMost: 600 },
        ' MB',
        `${restartedMb} after its start with a saved index, ${builtMb} after a first build`,
      ),
    ]
  } finally {
    await server?.stop()
    remove()
  }
}

async function withDatabase<T>(dataDir: string, holder: 'server' | 'command', act: (db: Db) => Promise<T>): Promise<T> {
  const database = await startEmbeddedPostgres({ dataDir, holder, log: silentLog() })
  const pool = createPool(database.connection, { max: 2, applicationName: 'depot-bench' })
  try {
    if (holder === 'server') await migrate(pool)
    return await act(createDb(pool))
  } finally {
    await pool.end()
    await database.stop()
  }
}

/** The sample catalogue as rows. Triggers are off: what they keep is not measured here. */
async function fill(db: Db, projects: number): Promise<void> {
  await sql`insert into account (id, username, email) select 'owner' || n, 'owner-' || n, 'owner' || n || '@example.org'
    from generate_series(0, 999) n`.execute(db)
  let batch: SearchDocument[] = []
  for (const document of sampleDocuments({ seed: SEED, projects, versions: VERSIONS, isSteady: true })) {
    batch.push(document)
    if (batch.length === BATCH) {
      await insertBatch(db, batch)
      batch = []
    }
  }
  await insertBatch(db, batch)
  await sql`vacuum analyze`.execute(db)
}

async function insertBatch(db: Db, documents: readonly SearchDocument[]): Promise<void> {
  const rows = documents.map((document, i) => ({
    ...document,
    owner: `owner${i % 1000}`,
    versions: document.versions.map((version, k) => ({
      id: version.id,
      date: version.date_published,
      loaders: pickLoaders(version.project_types[0] ?? 'mod', i + k),
      fields: { game_versions: version.fields['game_versions'], environment: version.fields['environment']?.[0] },
    })),
  }))
  await db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    await sql`create temporary table sample on commit drop as
      select value as row from jsonb_array_elements(${JSON.stringify(rows)}::jsonb)`.execute(tx)
    await sql`insert into team (id) select row->>'id' from sample`.execute(tx)
    await sql`insert into team_member (team_id, account_id, role, is_owner, accepted)
      select row->>'id', row->>'owner', 'Owner', true, true from sample`.execute(tx)
    await sql`insert into project (id, slug, name, summary, description, status, license, categories, downloads,
        followers, published, approved, updated, team_id)
      select row->>'id', row->>'slug', row->>'name', row->>'summary', '', 'approved', row->>'license',
        array(select jsonb_array_elements_text(row->'categories')), (row->>'downloads')::bigint,
        greatest(0, (row->>'follows')::integer), (row->>'date_created')::timestamptz,
        (row->>'date_created')::timestamptz, (row->>'date_modified')::timestamptz, row->>'id' from sample`.execute(tx)
    await sql`insert into version (id, project_id, author_id, name, version_number, version_type, date_published,
        loaders, fields)
      select v->>'id', row->>'id', row->>'owner', 'A version', '1.0', 'release', (v->>'date')::timestamptz,
        array(select jsonb_array_elements_text(v->'loaders')), v->'fields'
      from sample, jsonb_array_elements(row->'versions') v`.execute(tx)
  })
}

function pickLoaders(type: string, n: number): string[] {
  const loaders = LOADERS[type] ?? []
  return loaders.filter((_, i) => i === n % loaders.length || (n + i) % 5 === 0)
}

type Build = { seconds: number; slowestMs: number; medianMs: number }

/** Measures the time of the first build and its effect on other requests. */
async function untilBuilt({ url }: RunningDepot): Promise<Build> {
  const startedAt = performance.now()
  const times: number[] = []
  for (;;) {
    const askedAt = performance.now()
    await call(`${url}/health`)
    times.push(performance.now() - askedAt)
    const answer = (await (await call(`${url}/ready`)).json()) as Readiness
    if (answer.dependencies.search.state === 'ready') break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  times.sort((a, b) => a - b)
  const seconds = (performance.now() - startedAt) / 1000
  return { seconds, slowestMs: times.at(-1) ?? 0, medianMs: times[Math.floor(times.length / 2)] ?? 0 }
}

type Readiness = { dependencies: { search: { state?: string } } }

function mixedPaths(): string[] {
  const words = sampleWords(SEED)
  const [common = '', middling = '', second = ''] = [words[3], words[60], words[150]]
  const long = words.filter((word) => word.length > 8)[9] ?? ''
  const queries = [
    { new_filters: 'categories=magic' },
    { new_filters: 'project_types=mod AND loaders=fabric', index: 'newest' },
    { query: common },
    { query: middling },
    { query: `${middling} ${second}` },
    { query: common.slice(0, 2) },
    { query: `${long.slice(0, 4)}x${long.slice(5)}` },
    { offset: '50000', index: 'newest' },
    { new_filters: 'categories=library AND categories!=magic AND loaders NOT IN [quilt]', index: 'follows' },
    { query: middling, facets: '[["categories:magic","categories:mobs"],["versions:1.10.1"]]' },
  ]
  return queries.map((query) => `/v3/search?${new URLSearchParams(query as Record<string, string>)}`)
}

async function benchLoad({ url, child }: RunningDepot): Promise<Row[]> {
  const { port } = new URL(url)
  const paths = mixedPaths()
  for (const path of paths) {
    const { total_hits } = (await (await call(url + path)).json()) as { total_hits: number }
    if (total_hits === 0) throw new Error(`Nothing to measure: ${path} finds nothing`)
  }
  await load(port, paths, { seconds: 3 })
  const free = await load(port, paths, { seconds: 6 })
  const isPinned = await pin(child, '0')
  const before = cpuSeconds(child)
  const { requests, perSecond, p50Ms, p99Ms } = await load(port, paths, { seconds: 8 })
  const cpuMs = ((cpuSeconds(child) - before) / requests) * 1000
  await pin(child, `0-${cpus().length - 1}`)
  return [
    row(
      'mixed searches a second on one core',
      1000 / cpuMs,
      { atLeast: 3000 },
      '',
      `${cpuMs.toFixed(3)} ms of processor time each${isPinned ? `; ${perSecond}/s came` : ''}`,
    ),
    figure('their times, 32 connections', `p50 ${p50Ms} ms, p99 ${p99Ms} ms`),
    figure(
      'on all cores, the load generator among them',
      `${free.perSecond}/s, p50 ${free.p50Ms} ms, p99 ${free.p99Ms} ms`,
    ),
  ]
}

/** Keeps a process and its threads on these cores, where the system has a command for that. */
async function pin({ pid }: RunningDepot['child'], cores: string): Promise<boolean> {
  return run('taskset', ['-apc', cores, String(pid)]).then(
    () => true,
    () => false,
  )
}

async function benchUpdates({ url }: RunningDepot, db: Db, seconds: number): Promise<Row[]> {
  const { port } = new URL(url)
  const { rows } = await sql<{ id: string }>`select id from project order by id limit 1000`.execute(db)
  const ids = rows.map(({ id }) => id)
  const rename = (id: string, name: string) =>
    sql`with renamed as (update project set name = ${name} where id = ${id})
    select pg_notify('depot_changes', ${JSON.stringify(['project', id])})`.execute(db)
  const latencies: number[] = []
  for (const [i, id] of ids.slice(0, 40).entries()) {
    const startedAt = performance.now()
    await rename(id, `Zyxwvut${i}`)
    const find = async () =>
      (await (await call(`${url}/v3/search?query=zyxwvut${i}&limit=1`)).json()) as { total_hits: number }
    while ((await find()).total_hits === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    latencies.push(performance.now() - startedAt)
  }
  latencies.sort((a, b) => a - b)
  const calm = await load(port, mixedPaths(), { seconds: seconds / 2, connections: 4 })
  let isOver = false
  let renames = 0
  const startedAt = performance.now()
  const writing = (async () => {
    for (; !isOver; renames += 1) {
      const wait = startedAt + renames * 10 - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      await rename(ids[renames % ids.length] ?? '', `Renamed ${renames}`)
    }
  })()
  const busy = await load(port, mixedPaths(), { seconds, connections: 4 })
  isOver = true
  await writing
  return [
    row(
      'a change is found after (median of 40)',
      latencies[20] ?? 0,
      { atMost: 1000 },
      ' ms',
      `at most ${latencies.at(-1)?.toFixed(0)} ms`,
    ),
    row(
      `p99 with ${Math.round(renames / seconds)} changes a second for ${seconds} s, against none`,
      busy.p99Ms / calm.p99Ms,
      { atMost: 2 },
      ' times',
      `${calm.p99Ms} and ${busy.p99Ms} ms`,
    ),
  ]
}
