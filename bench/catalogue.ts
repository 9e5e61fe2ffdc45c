// The catalogue at size: update checks by hash, a project with thousands of versions, random projects, statistics.
// Everything is asked over the application's own routes, on the embedded database, or on an empty one that
// DATABASE_URL names.
//
//   node bench/catalogue.ts [--projects 200000]
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import type { Db } from '#db/db.ts'
import { migrate } from '#db/migrate.ts'
import { createLog } from '#telemetry/log.ts'
import { buildApp } from '../src/app.ts'
import { boot } from '../src/boot.ts'
import { loadConfig } from '../src/config.ts'
import type { Deps } from '../src/deps.ts'

const ROUNDS = 25
const BYPASS_KEY = 'bench-bypass-key-0123456789abcdefghij'
/** The catalogue of update checks: 20,000 projects with five versions each. */
const CHECKED_PROJECTS = 20_000
const VERSIONS_EACH = 5
const LARGE_VERSIONS = 2_000

type App = Awaited<ReturnType<typeof buildApp>>
type Asked = { method: 'GET' | 'POST'; url: string; payload?: object }

export type CatalogueBench = { projects: number; databaseUrl?: string | undefined }

/** Prints its figures; returns whether each limit is kept. */
export async function benchCatalogue({ projects, databaseUrl }: CatalogueBench): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), 'depot-bench-catalogue-'))
  const config = loadConfig({
    DATA_DIR: dataDir,
    RATE_LIMIT_BYPASS_KEY: BYPASS_KEY,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  })
  const log = createLog({ level: 'warn', buffered: false })
  const booted = await boot({ config, log, holder: 'server' })
  try {
    await migrate(booted.deps.pool)
    await booted.listen()
    const app = await buildApp(booted.deps)
    const kept = await measure(app, booted.deps, projects)
    await app.close()
    return kept
  } finally {
    await booted.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function measure(app: App, deps: Deps, projects: number): Promise<boolean> {
  await fill(deps.db, { projects: CHECKED_PROJECTS, versionsEach: VERSIONS_EACH })
  const updates = await measureUpdates(app, deps)
  await measureLargeProject(app, deps)
  await fill(deps.db, { projects: projects - CHECKED_PROJECTS, versionsEach: 1 })
  const random = await measureRandom(app, deps)
  await measureStatistics(app, deps)
  return updates && random
}

/** One hash against a thousand, both warm (versions in the cache) and cold. */
async function measureUpdates(app: App, deps: Deps): Promise<boolean> {
  const { rows } = await sql<{ sha1: string }>`select sha1 from file order by sha512 limit 1000`.execute(deps.db)
  const hashes = rows.map(({ sha1 }) => sha1)
  const body = { loaders: ['fabric'], game_versions: ['1.20.1'] }
  const ask = (some: string[]): Asked => ({
    method: 'POST',
    url: '/v3/version_files/update',
    payload: { hashes: some, ...body },
  })
  const individual = {
    method: 'POST',
    url: '/v3/version_files/update_individual',
    payload: { hashes: hashes.map((hash, i) => ({ hash, ...body, loaders: [i % 2 === 0 ? 'fabric' : 'quilt'] })) },
  } as const
  let kept = true
  for (const [state, prepare] of [
    ['warm', () => {}],
    ['cold', () => deps.cache.clear()],
  ] as const) {
    const one = await time(app, `update check, 1 hash, ${state}`, ask(hashes.slice(0, 1)), prepare)
    const all = await time(app, `update check, 1000 hashes, ${state}`, ask(hashes), prepare)
    await time(app, `update check, 1000 hashes with filters of their own, ${state}`, individual, prepare)
    console.log(`  1000 hashes cost ${(all.ms / one.ms).toFixed(1)} times one`)
    kept &&= all.ms < 10 * one.ms
  }
  return kept
}

async function measureLargeProject(app: App, deps: Deps): Promise<void> {
  const { rows } = await sql<{ id: string }>`select id from project order by id limit 1`.execute(deps.db)
  const id = rows[0]?.id ?? ''
  await sql`insert into version (id, project_id, author_id, name, version_number, changelog, version_type, loaders, fields, date_published)
    select random_id(), ${id}, 'benchma0', 'A version', '9.' || i, repeat('Changed this and that. ', 150), 'release', '{fabric}',
      '{"game_versions": ["1.20.1"], "environment": "unknown"}', now() - i * interval '1 hour'
    from generate_series(1, ${LARGE_VERSIONS}::integer) i`.execute(deps.db)
  await sql`insert into dependency (dependent_id, project_id, version_id, dependency_type)
    select v.id, d.project_id, d.id, 'required' from version v
    cross join lateral (select project_id, id from version where project_id <> ${id} order by version.id limit 5) d
    where v.project_id = ${id}`.execute(deps.db)
  await sql`analyze`.execute(deps.db)
  const cold = () => deps.cache.clear()
  const list = `/v3/project/${id}/version`
  const whole = await time(app, `version list of ${LARGE_VERSIONS}, cold`, { method: 'GET', url: list }, cold)
  await time(app, `version list of ${LARGE_VERSIONS}, warm`, { method: 'GET', url: list })
  const brief = await time(app, 'the same without changelogs, warm', {
    method: 'GET',
    url: `${list}?include_changelog=false`,
  })
  console.log(
    `  ${whole.bytes} bytes, without changelogs ${brief.bytes}: ${(whole.bytes / brief.bytes).toFixed(1)} times smaller`,
  )
  await time(app, 'ten of them', { method: 'GET', url: `${list}?limit=10` })
  await time(app, 'the project itself, cold', { method: 'GET', url: `/v3/project/${id}` }, cold)
  await time(app, 'its dependencies, warm', { method: 'GET', url: `/v3/project/${id}/dependencies` })
}

async function measureRandom(app: App, deps: Deps): Promise<boolean> {
  const { rows } = await sql<{
    count: number
  }>`select count(*) from project where status in ('approved', 'archived')`.execute(deps.db)
  console.log(`${rows[0]?.count} projects to choose from`)
  const { ms: one } = await time(app, 'random project', { method: 'GET', url: '/v3/projects_random?count=1' })
  const { ms: many } = await time(app, '100 random projects', { method: 'GET', url: '/v3/projects_random?count=100' })
  for (const type of ['mod', 'plugin', 'shader']) {
    const share = `${shareOf(type)} of all`
    await time(app, `100 random projects of type ${type} (${share})`, {
      method: 'GET',
      url: `/v3/projects_random?count=100&project_type=${type}`,
    })
  }
  const full = performance.now()
  await sql`select id from project where status in ('approved', 'archived') order by random() limit 100`.execute(
    deps.db,
  )
  console.log(`for comparison, a full scan with a sort: ${(performance.now() - full).toFixed(1)} ms`)
  return one < 50 && many < 100
}

async function measureStatistics(app: App, deps: Deps): Promise<void> {
  await time(app, 'statistics', { method: 'GET', url: '/v3/statistics' })
  const full = performance.now()
  await sql`select * from catalogue_recount()`.execute(deps.db)
  console.log(`for comparison, counting everything: ${(performance.now() - full).toFixed(1)} ms`)
}

/** Prints and returns the best, which is what the work costs when nothing else runs; the median stands beside it. */
async function time(
  app: App,
  name: string,
  asked: Asked,
  prepare: () => void = () => {},
): Promise<{ ms: number; bytes: number }> {
  const headers = { 'user-agent': 'depot-bench/1.0', 'x-ratelimit-key': BYPASS_KEY }
  const took: number[] = []
  let bytes = 0
  for (let round = 0; round < ROUNDS + 2; round += 1) {
    prepare()
    const began = performance.now()
    const answer = await app.inject({ ...asked, headers })
    const ms = performance.now() - began
    if (answer.statusCode !== 200) throw new Error(`${name}: ${answer.statusCode} ${answer.body}`)
    bytes = answer.rawPayload.length
    // The first two are for the compiler and the database's caches.
    if (round >= 2) took.push(ms)
  }
  const sorted = took.toSorted((a, b) => a - b)
  const [ms = 0, median = 0] = [sorted[0], sorted[Math.floor(ROUNDS / 2)]]
  console.log(`${name}: ${ms.toFixed(1)} ms (median ${median.toFixed(1)} ms), ${bytes} bytes`)
  return { ms, bytes }
}

const LOADERS: readonly [type: string, loader: string, below: number][] = [
  ['mod', 'fabric', 0.9],
  ['plugin', 'paper', 0.99],
  ['shader', 'iris', 1],
]

function shareOf(type: string): string {
  const index = LOADERS.findIndex(([name]) => name === type)
  return `${Math.round(((LOADERS[index]?.[2] ?? 0) - (LOADERS[index - 1]?.[2] ?? 0)) * 100)} %`
}

/** Approved projects with versions and a file each, straight into the tables; the counts are made afresh after. */
async function fill(db: Db, { projects, versionsEach }: { projects: number; versionsEach: number }): Promise<void> {
  if (projects <= 0) return
  const began = performance.now()
  await db.transaction().execute(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx)
    for (const table of ['project', 'version', 'file', 'team_member']) {
      await sql`alter table ${sql.table(table)} disable trigger user`.execute(tx)
    }
    await sql`insert into account (id, username) values ('benchma0', 'bench-maker') on conflict do nothing`.execute(tx)
    await sql`create temporary table made on commit drop as
      select random_id() as id, random_id() as team_id, random() as part from generate_series(1, ${projects}::integer)`.execute(
      tx,
    )
    await sql`insert into team (id) select team_id from made`.execute(tx)
    await sql`insert into team_member (team_id, account_id, is_owner, accepted) select team_id, 'benchma0', true, true from made`.execute(
      tx,
    )
    await sql`insert into project (id, slug, name, summary, description, status, license, team_id)
      select id, 'p-' || lower(id) || '-' || lower(team_id), 'Project ' || id, 'A project.', repeat('A line of text. ', 40),
        case when part < 0.02 then 'archived' else 'approved' end, 'MIT', team_id from made`.execute(tx)
    const [mod, plugin] = LOADERS
    await sql`insert into version (id, project_id, author_id, name, version_number, changelog, version_type, loaders, fields, date_published)
      select random_id(), id, 'benchma0', 'A version', '1.' || i, 'Changes.', 'release',
        case when part < ${mod?.[2]} then '{fabric,quilt}' when part < ${plugin?.[2]} then '{paper}' else '{iris}' end::text[],
        '{"game_versions": ["1.20", "1.20.1"], "environment": "unknown"}', now() - i * interval '1 day'
      from made cross join generate_series(1, ${versionsEach}::integer) i`.execute(tx)
    await sql`insert into file (id, version_id, filename, size_bytes, sha1, sha512, is_primary, content_type, storage_key)
      select random_id(), version.id, 'a.jar', 1000, left(encode(sha256(version.id::bytea), 'hex'), 40),
        encode(sha512(version.id::bytea), 'hex'), true, 'application/java-archive', 'versions/' || version.id
      from version join made on made.id = version.project_id`.execute(tx)
    for (const table of ['project', 'version', 'file', 'team_member']) {
      await sql`alter table ${sql.table(table)} enable trigger user`.execute(tx)
    }
    await sql`delete from catalogue_change`.execute(tx)
    await sql`insert into catalogue_change (projects, versions, files, authors) select * from catalogue_recount()`.execute(
      tx,
    )
  })
  await sql`vacuum analyze`.execute(db)
  console.log(
    `made ${projects} projects with ${versionsEach} versions each in ${((performance.now() - began) / 1000).toFixed(0)} s`,
  )
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { projects: { type: 'string', default: '200000' } } })
  const kept = await benchCatalogue({ projects: Number(values.projects), databaseUrl: process.env['DATABASE_URL'] })
  if (!kept) process.exitCode = 1
}
