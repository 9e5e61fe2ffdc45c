// The catalogue at size: update checks by hash, a project with thousands of versions, random projects, statistics.
// Asked over HTTP, one request at a time. The best of some rounds counts: what the work costs when nothing else runs.
//
//   node bench/catalogue.ts
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { createDb, createPool } from '#platform/db/db.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { makeDataDir } from '#test/support/processes/running-depot.ts'
import { benchUpdates } from './bulk/updates.ts'
import { call, startBenchDepot } from './kit/servers.ts'
import { figure, printTable, type Row, row } from './kit/table.ts'

const ROUNDS = 25
/** Update checks: 20,000 projects with five versions each. */
const CHECKED_PROJECTS = 20_000
const VERSIONS_EACH = 5
export const LARGE_VERSIONS = 2_000
const MANY_PROJECTS = 200_000

/** Share of all projects whose versions are for a loader of this type. */
const TYPES = [
  { type: 'mod', loaders: '{fabric,quilt}', share: 0.9 },
  { type: 'plugin', loaders: '{paper}', share: 0.09 },
  { type: 'shader', loaders: '{iris}', share: 0.0095 },
  { type: 'datapack', loaders: '{datapack}', share: 0.0005 },
] as const

type Timing = { best: number; median: number; bytes: number }
type Ask = () => Promise<Response>

export async function benchCatalogue(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const server = await startBenchDepot(dataDir)
  try {
    // The running server owns the database; a command joins it.
    const database = await startEmbeddedPostgres({ dataDir, holder: 'command', log: silentLog() })
    const pool = createPool(database.connection, { max: 2, applicationName: 'depot-bench' })
    const db = createDb(pool)
    await fill(db, { projects: CHECKED_PROJECTS, versionsEach: VERSIONS_EACH })
    const rows = [...(await benchUpdates(server, db)), ...(await benchLargeProject(server.url, db))]
    await fill(db, { projects: MANY_PROJECTS - CHECKED_PROJECTS, versionsEach: 1 })
    rows.push(...(await benchRandom(server.url, db)), ...(await benchStatistics(server.url, db)))
    await pool.end()
    await database.stop()
    return rows
  } finally {
    await server.stop()
    remove()
  }
}

const get =
  (url: string): Ask =>
  () =>
    call(url)

async function time(ask: Ask): Promise<Timing> {
  const took: number[] = []
  let bytes = 0
  // The first two are for the compiler and the database's caches.
  for (let round = 0; round < ROUNDS + 2; round += 1) {
    const began = performance.now()
    const answer = await ask()
    bytes = (await answer.arrayBuffer()).byteLength
    if (answer.status !== 200) throw new Error(`${answer.url}: ${answer.status}`)
    if (round >= 2) took.push(performance.now() - began)
  }
  const sorted = took.toSorted((a, b) => a - b)
  return { best: sorted[0] ?? 0, median: sorted[Math.floor(ROUNDS / 2)] ?? 0, bytes }
}

function shown({ best, median, bytes }: Timing): string {
  return `${best.toFixed(1)} ms, median ${median.toFixed(1)} ms, ${Math.ceil(bytes / 1024)} KiB`
}

async function benchLargeProject(url: string, db: Db): Promise<Row[]> {
  const { rows } = await sql<{ id: string }>`select id from project order by id limit 2`.execute(db)
  const [large = '', small = ''] = rows.map(({ id }) => id)
  await makeLarge(db, large)
  const list = `${url}/v3/project/${large}/version`
  const whole = await time(get(list))
  const brief = await time(get(`${list}?include_changelog=false`))
  return [
    row('version list without changelogs', whole.bytes / brief.bytes, { atLeast: 5 }, ' times smaller'),
    figure(`version list of ${LARGE_VERSIONS}`, shown(whole)),
    figure('without changelogs', shown(brief)),
    figure('ten of them', shown(await time(get(`${list}?limit=10`)))),
    figure('ten of a project with five', shown(await time(get(`${url}/v3/project/${small}/version?limit=10`)))),
    figure('its dependencies', shown(await time(get(`${url}/v3/project/${large}/dependencies`)))),
  ]
}

async function benchRandom(url: string, db: Db): Promise<Row[]> {
  const path = `${url}/v3/projects_random`
  const hundred = await time(get(`${path}?count=100`))
  const rows = [
    figure(`one random project of ${MANY_PROJECTS}`, shown(await time(get(`${path}?count=1`)))),
    figure('100 random projects', shown(hundred)),
  ]
  for (const { type, share } of TYPES) {
    const timing = await time(get(`${path}?count=100&project_type=${type}`))
    rows.push(figure(`100 of a type that ${share * 100} % have`, shown(timing)))
  }
  const rare = (await (await call(`${path}?count=50&project_type=datapack`)).json()) as unknown[]
  rows.push(row('asked for 50 of the rarest type, found', rare.length, { atLeast: 50 }))
  const { rows: plan } = await sql<Record<string, string>>`explain (analyze, timing off, costs off)
    select id from project where random_key >= 5000000 and random_key < 7000000 and status in ('approved', 'archived')`.execute(
    db,
  )
  const text = plan.map((line) => line['QUERY PLAN']).join('\n')
  rows.push(
    row('random stretches are read from the index alone', text.includes('Index Only Scan') ? 1 : 0, { atLeast: 1 }),
  )
  return rows
}

async function benchStatistics(url: string, db: Db): Promise<Row[]> {
  const began = performance.now()
  await sql`select * from catalogue_recount()`.execute(db)
  const counting = performance.now() - began
  const kept = await time(get(`${url}/v3/statistics`))
  return [row('statistics against counting everything', counting / kept.best, { atLeast: 10 }, ' times', shown(kept))]
}

/** One project with thousands of versions, each with a changelog of 5 KB and five dependencies. */
export async function makeLarge(db: Db, id: string): Promise<void> {
  await sql`insert into version (id, project_id, author_id, name, version_number, changelog, version_type, loaders, fields, date_published)
    select random_id(), ${id}, 'benchma0', 'A version', '9.' || i, repeat('Changed this and that. ', 220), 'release', '{fabric}',
      '{"game_versions": ["1.20.1"], "environment": "unknown"}', now() - i * interval '1 hour'
    from generate_series(1, ${LARGE_VERSIONS}::integer) i`.execute(db)
  await sql`insert into dependency (dependent_id, project_id, version_id, dependency_type)
    select made.id, named.project_id, named.id, 'required' from version made
    cross join lateral (select project_id, id from version where project_id <> ${id} order by version.id limit 5) named
    where made.project_id = ${id}`.execute(db)
  await sql`vacuum analyze`.execute(db)
}

const COUNTED = ['project', 'version', 'file', 'team_member'] as const

/** A text of at least this many random hexadecimal digits, which compress less than prose, for each row with an `id`. */
const digits = (count: number) => sql`array_to_string(array(
  select md5(random()::text || id || n) from generate_series(1, ${Math.ceil(count / 32)}::integer) n), '')`

/** Approved projects with versions and a file each, straight into the tables; the counts are made afresh after. */
export async function fill(
  db: Db,
  { projects, versionsEach }: { projects: number; versionsEach: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx)
    for (const table of COUNTED) await sql`alter table ${sql.table(table)} disable trigger user`.execute(tx)
    await sql`insert into account (id, username) values ('benchma0', 'bench-maker') on conflict do nothing`.execute(tx)
    await sql`create temporary table made on commit drop as
      select random_id() as id, random_id() as team_id, random() as part from generate_series(1, ${projects}::integer)`.execute(
      tx,
    )
    await sql`insert into team (id) select team_id from made`.execute(tx)
    await sql`insert into team_member (team_id, account_id, is_owner, accepted)
      select team_id, 'benchma0', true, true from made`.execute(tx)
    await sql`insert into project (id, slug, name, summary, description, status, license, team_id)
      select id, 'p-' || lower(id) || '-' || lower(team_id), 'Project ' || id, 'A project.', ${digits(1000)},
        case when part < 0.02 then 'archived' else 'approved' end, 'MIT', team_id from made`.execute(tx)
    const [mod, plugin, shader, datapack] = TYPES
    await sql`insert into version (id, project_id, author_id, name, version_number, changelog, version_type, loaders, fields, date_published)
      select random_id(), id, 'benchma0', 'A version', '1.' || i, ${digits(200)}, 'release',
        (case when part < ${mod.share} then ${mod.loaders} when part < ${mod.share + plugin.share} then ${plugin.loaders}
          when part < ${1 - datapack.share} then ${shader.loaders} else ${datapack.loaders} end)::text[],
        '{"game_versions": ["1.20", "1.20.1"], "environment": "unknown"}', now() - i * interval '1 day'
      from made cross join generate_series(1, ${versionsEach}::integer) i`.execute(tx)
    await sql`insert into file (id, version_id, filename, size_bytes, sha1, sha512, is_primary, content_type, storage_key)
      select random_id(), version.id, 'a.jar', 1000, left(encode(sha256(version.id::bytea), 'hex'), 40),
        encode(sha512(version.id::bytea), 'hex'), true, 'application/java-archive', 'versions/' || version.id
      from version join made on made.id = version.project_id`.execute(tx)
    for (const table of COUNTED) await sql`alter table ${sql.table(table)} enable trigger user`.execute(tx)
    await sql`delete from catalogue_change`.execute(tx)
    await sql`insert into catalogue_change (projects, versions, files, authors) select * from catalogue_recount()`.execute(
      tx,
    )
  })
  await sql`vacuum analyze`.execute(db)
}

if (import.meta.main) printTable('The catalogue at size', await benchCatalogue())
