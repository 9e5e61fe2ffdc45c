// What things cost, for `depot capacity`: processor time of requests, bytes of rows and events, memory. Writes
// src/capacity/costs.json, which is part of the program.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { createDb, createPool, type Db } from '#platform/db/db.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { depot, makeDataDir, type RunningDepot } from '#test/support/running-depot.ts'
import { measureAnnouncing } from './announcements.ts'
import { author } from './http.ts'
import { call, cpuSeconds, load, startBenchDepot } from './servers.ts'
import { figure, printTable, type Row } from './table.ts'

const run = promisify(execFile)
const FILE = join(import.meta.dirname, '../src/capacity/costs.json')
const PROJECTS = 2_000
const SECONDS = 3
const EDITS = 600
const AT_ONCE = 16
const VIEWS_PER_SECOND = 1_000
const TABLES = ['project', 'version', 'file', 'file_content', 'dependency', 'follow', 'account'] as const

type Costs = {
  measured: { on: string; node: string; cores: number; projects: number }
  requestMs: Record<'project' | 'version' | 'projects' | 'versions' | 'search' | 'updates' | 'event' | 'edit', number>
  announcedWritesPerSecond: number
  rowBytes: Record<string, number>
  dependenciesPerVersion: number
  eventBytes: number
}

export async function benchCosts(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  // Before the server: it would hold the store of events and add them later.
  const { stdout } = await depot(dataDir, ['seed', '--projects', String(PROJECTS), '--json'])
  const { events } = JSON.parse(stdout) as { events: { added: number } }
  const eventBytes = statSync(join(dataDir, 'analytics', 'events.duckdb')).size / events.added
  const server = await startBenchDepot(dataDir)
  try {
    const token = await author(dataDir)
    // The running server owns the database; a command joins it.
    const database = await startEmbeddedPostgres({ dataDir, holder: 'command', log: silentLog() })
    const pool = createPool(database.connection, { max: 2, applicationName: 'depot-bench' })
    const db = createDb(pool)
    const rowBytes = await sizesOf(db)
    const { dependencies, versions } = await countsOf(db)
    const requestMs = {
      ...(await measureReads(server, db)),
      edit: await measureEdits(server, db, token),
      event: await measureEvents(server, db),
    }
    await pool.end()
    await database.stop()
    await server.stop()
    const costs: Costs = {
      measured: {
        on: new Date().toISOString().slice(0, 10),
        node: process.versions.node,
        cores: cpus().length,
        projects: PROJECTS,
      },
      requestMs: rounded(requestMs),
      announcedWritesPerSecond: Math.round((await measureAnnouncing()).perSecond.log),
      rowBytes,
      dependenciesPerVersion: Number((dependencies / versions).toFixed(2)),
      eventBytes: Number(eventBytes.toFixed(1)),
    }
    return compareAndWrite(costs)
  } finally {
    await server.stop()
    remove()
  }
}

/** Bytes a row with its indexes and what lies beside the table. */
async function sizesOf(db: Db): Promise<Record<string, number>> {
  await sql`vacuum analyze`.execute(db)
  const sizes: Record<string, number> = {}
  for (const table of TABLES) {
    const { rows } = await sql<{ size: string; count: string }>`
      select pg_total_relation_size(${table}) as size, count(*) as count from ${sql.table(table)}`.execute(db)
    sizes[table] = Math.round(Number(rows[0]?.size) / Number(rows[0]?.count))
  }
  return sizes
}

async function countsOf(db: Db): Promise<{ dependencies: number; versions: number }> {
  const { rows } = await sql<{ dependencies: string; versions: string }>`
    select (select count(*) from dependency) as dependencies, (select count(*) from version) as versions`.execute(db)
  return { dependencies: Number(rows[0]?.dependencies), versions: Number(rows[0]?.versions) }
}

/** Processor time of the server a request; some hundred projects, each asked before, so that answers are warm. */
async function measureReads(server: RunningDepot, db: Db) {
  const { rows } = await sql<{ id: string; version: string; sha1: string }>`
    select project.id, version.id as version, file.sha1 from project
    join lateral (select id from version where project_id = project.id limit 1) version on true
    join lateral (select sha1 from file where version_id = version.id limit 1) file on true
    where project.status = 'approved' limit 100`.execute(db)
  const ids = rows.map(({ id }) => id)
  const list = `/v3/projects?ids=${encodeURIComponent(JSON.stringify(ids))}`
  const check = { hashes: rows.map(({ sha1 }) => sha1), algorithm: 'sha1', loaders: [], game_versions: [] }
  const words = ['lantern', 'better', 'tools', 'map', 'stone', 'river']
  return {
    project: await costOf(
      server,
      ids.map((id) => `/v3/project/${id}`),
    ),
    version: await costOf(
      server,
      rows.map(({ version }) => `/v3/version/${version}`),
    ),
    projects: await costOf(server, [list]),
    versions: await costOf(
      server,
      ids.map((id) => `/v3/project/${id}/version`),
    ),
    search: await costOf(
      server,
      words.flatMap((word) => [`/v3/search?query=${word}`, `/v3/search?query=${word}&limit=20&index=downloads`]),
    ),
    updates: await costOf(server, [`POST /v3/version_files/update ${JSON.stringify(check)}`]),
  }
}

async function costOf({ url, child }: RunningDepot, asked: string[]): Promise<number> {
  const { port } = new URL(url)
  await load(port, asked, { seconds: 1, connections: 8 })
  const before = cpuSeconds(child)
  const { requests } = await load(port, asked, { seconds: SECONDS, connections: 8 })
  return ((cpuSeconds(child) - before) / requests) * 1000
}

/** The same for requests of which each is another one; the caller is another process, so its work does not count. */
async function costOfCalls(
  { child }: RunningDepot,
  count: number,
  atOnce: number,
  send: (n: number) => Promise<unknown>,
): Promise<number> {
  for (let n = 0; n < atOnce; n += 1) await send(n)
  const before = cpuSeconds(child)
  await inTurns(count, atOnce, send)
  return ((cpuSeconds(child) - before) / count) * 1000
}

async function inTurns(count: number, atOnce: number, send: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const one = async (): Promise<void> => {
    while (next < count) await send(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

async function measureEdits(server: RunningDepot, db: Db, token: string): Promise<number> {
  const ids = await listIds(db, AT_ONCE)
  return costOfCalls(server, EDITS, AT_ONCE, (n) =>
    post(
      server,
      `/v3/project/${ids[n % ids.length]}`,
      { summary: `A summary that changed ${n} times.` },
      'PATCH',
      token,
    ),
  )
}

/** Views are sent by a process of their own, at a rate that the server keeps up with. */
async function measureEvents({ url, child }: RunningDepot, db: Db): Promise<number> {
  const program = join(import.meta.dirname, 'ingest-load.ts')
  const args = [program, new URL(url).port, SECONDS, VIEWS_PER_SECOND, 0, ...(await listIds(db, 100))]
  const before = cpuSeconds(child)
  const { stdout } = await run(process.execPath, args.map(String))
  const { views } = JSON.parse(stdout) as { views: number }
  return ((cpuSeconds(child) - before) / views) * 1000
}

async function listIds(db: Db, count: number): Promise<string[]> {
  const rows = await db.selectFrom('project').select('id').where('status', '=', 'approved').limit(count).execute()
  return rows.map(({ id }) => id)
}

async function post({ url }: RunningDepot, path: string, body: object, method = 'POST', token?: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await call(`${url}${path}`, {
    method,
    headers,
    body: JSON.stringify(body),
    ...(token === undefined ? {} : { token }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
}

const rounded = <T extends Record<string, number>>(values: T): T =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value.toFixed(3))])) as T

/** Replaces the figures, and shows them beside those before. */
function compareAndWrite(costs: Costs): Row[] {
  const before = existsSync(FILE) ? flat(JSON.parse(readFileSync(FILE, 'utf8'))) : {}
  writeFileSync(FILE, `${JSON.stringify(costs, null, 2)}\n`)
  return Object.entries(flat(costs)).map(([name, value]) =>
    figure(name, `${value} (before: ${before[name] ?? 'unknown'})`),
  )
}

/** `{ a: { b: 1 } }` as `{ 'a.b': 1 }`. */
function flat(value: object, prefix = ''): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      typeof inner === 'object' && inner !== null
        ? Object.entries(flat(inner, `${prefix}${name}.`))
        : [[prefix + name, inner]],
    ),
  )
}

if (import.meta.main) printTable('What things cost', await benchCosts())
