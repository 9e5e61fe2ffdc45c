// Update checks and versions by 1,000 hashes: the cost of uncached hashes compared with one, and the latencies of warm
// requests and of single requests next to them.
import { createDb, createPool } from '#platform/db/db.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { fill } from '../catalogue.ts'
import { type Load, load, startBenchDepot } from '../kit/servers.ts'
import { printTable, type Row, row } from '../kit/table.ts'
import { costOnce, listHashes, type Request, send } from './updates.ts'

const PROJECTS = 30_000
const VERSIONS_EACH = 5
const HASHES = 1000
/** The first round is for the compiler. */
const ROUNDS = 6
/** Uncached requests of each kind per round. Each uses hashes that no request used before. */
const THOUSANDS = 2
const ONES = 25
const CONNECTIONS = 32
/** Number of different warm requests. */
const LISTS = 8
const SECONDS = 3

const FILTER = { loaders: ['fabric'], game_versions: ['1.20.1'] }
const KINDS = {
  'update check': (hashes: readonly string[]): Request => ({
    path: '/v3/version_files/update',
    body: { hashes, ...FILTER },
  }),
  'versions by hash': (hashes: readonly string[]): Request => ({ path: '/v3/version_files', body: { hashes } }),
}

export async function benchBulk(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const server = await startBenchDepot(dataDir)
  try {
    const hashes = await listPublished(dataDir)
    const rows = await coldRows(server, hashes)
    for (const [name, requestOf] of Object.entries(KINDS))
      rows.push(...(await warmRows(server, name, requestOf, hashes)))
    return rows
  } finally {
    await server.stop()
    remove()
  }
}

/** Fills the catalogue, and returns the hash of one file of each project with an update, in no order of the database's. */
async function listPublished(dataDir: string): Promise<string[]> {
  const database = await startEmbeddedPostgres({ dataDir, holder: 'command', log: silentLog() })
  const pool = createPool(database.connection, { max: 2, applicationName: 'depot-bench' })
  try {
    const db = createDb(pool)
    await fill(db, { projects: PROJECTS, versionsEach: VERSIONS_EACH })
    return await listHashes(db)
  } finally {
    await pool.end()
    await database.stop()
  }
}

async function coldRows(server: RunningDepot, hashes: readonly string[]): Promise<Row[]> {
  let used = 0
  const next = (count: number): string[] => {
    used += count
    if (used > hashes.length) throw new Error('There are too few hashes that no request used')
    return hashes.slice(used - count, used)
  }
  const costs = Object.entries(KINDS).map(([name, requestOf]) => ({
    name,
    requestOf,
    ones: [] as number[],
    ratios: [] as number[],
  }))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { requestOf, ones, ratios } of costs) {
      const one = await costOnce(server, ONES, () => requestOf(next(1)))
      const thousand = await costOnce(server, THOUSANDS, () => requestOf(next(HASHES)))
      if (round === 0) continue
      ones.push(one.ms)
      ratios.push(thousand.ms / one.ms)
    }
  }
  return costs.map(({ name, ones, ratios }) =>
    spread(
      `${name}, 1,000 uncached hashes compared with one, processor time with the database`,
      ratios,
      10,
      `one: ${median(ones).toFixed(2)} ms`,
    ),
  )
}

/** Alternates single requests alone and next to `CONNECTIONS` requests for 1,000 cached hashes. */
async function warmRows(
  server: RunningDepot,
  name: string,
  requestOf: (hashes: readonly string[]) => Request,
  hashes: readonly string[],
): Promise<Row[]> {
  const lists = Array.from({ length: LISTS }, (_, n) => requestOf(hashes.slice(n * HASHES, (n + 1) * HASHES)))
  for (const list of lists) await send(server.url, list)
  const { port } = new URL(server.url)
  const singles = hashes.slice(0, 100).map((hash) => textOf(requestOf([hash])))
  const single = (): Promise<Load> => load(port, singles, { seconds: SECONDS, connections: 1 })
  const bulk = (): Promise<Load> => load(port, lists.map(textOf), { seconds: SECONDS + 1, connections: CONNECTIONS })
  const ratiosOfBulk: number[] = []
  const ratiosOfSingle: number[] = []
  let texts = ['', '']
  for (let round = 0; round < ROUNDS; round += 1) {
    const quiet = await single()
    const [many, during] = await Promise.all([bulk(), single()])
    if (round === 0) continue
    ratiosOfBulk.push(many.p99Ms / many.p50Ms)
    ratiosOfSingle.push(during.p99Ms / quiet.p99Ms)
    texts = [shown(many), `${shown(during)}; on a quiet server ${shown(quiet)}`]
  }
  const what = `${name}, 1,000 cached hashes, ${CONNECTIONS} connections`
  return [
    spread(`${what}: p99 compared with p50`, ratiosOfBulk, 4, texts[0]),
    spread(
      `${what}: p99 of single requests at the same time, compared with a quiet server`,
      ratiosOfSingle,
      2,
      texts[1],
    ),
  ]
}

const textOf = ({ path, body }: Request): string => `POST ${path} ${JSON.stringify(body)}`

const shown = ({ p50Ms, p99Ms, perSecond }: Load): string =>
  `p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms, ${perSecond}/s`

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** The median of the rounds, with the lowest and the highest. */
function spread(what: string, ratios: readonly number[], atMost: number, detail = ''): Row {
  const range = `${Math.min(...ratios).toFixed(1)} to ${Math.max(...ratios).toFixed(1)}`
  return row(what, median(ratios), { atMost }, ' times', [range, detail].join('; '))
}

if (import.meta.main) printTable('Update checks and versions by 1,000 hashes', await benchBulk())
