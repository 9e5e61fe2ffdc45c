// Update checks and versions by the hashes of files, compared with lists of projects: the cost per byte of a cached
// response. Measures processor time, because other work on the machine changes it less.
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { RunningDepot } from '#test/support/processes/running-depot.ts'
import { call, countQueries, cpuSeconds, cpuSecondsOfAll, load } from '../kit/servers.ts'
import { figure, type Row, row } from '../kit/table.ts'

/** Rounds in which all warm requests are measured one after the other, so that a drifting machine slows all alike. */
const WARM_ROUNDS = 5
const SECONDS = 2

type Cost = { ms: number; bytes: number }

/** `db` has at least 1,000 projects of which a version is for `fabric` and `1.20.1`. */
export async function benchUpdates(server: RunningDepot, db: Db): Promise<Row[]> {
  const { url } = server
  const hashes = await listHashes(db)
  const ids = await listIds(db, 100)
  const filter = { loaders: ['fabric'], game_versions: ['1.20.1'] }
  const check = (asked: readonly string[]): Request => ({
    path: '/v3/version_files/update',
    body: { hashes: asked, ...filter },
  })
  const one = check(hashes.slice(0, 1))
  const hundred = check(hashes.slice(0, 100))
  const thousand = check(hashes.slice(0, 1000))
  const projects = { path: `/v3/projects?ids=${encodeURIComponent(JSON.stringify(ids))}` }
  const byHash = { path: '/v3/version_files', body: { hashes: hashes.slice(0, 100) } }
  const individual = {
    path: '/v3/version_files/update_individual',
    body: {
      hashes: hashes
        .slice(0, 1000)
        .map((hash, i) => ({ hash, ...filter, loaders: [i % 2 === 0 ? 'fabric' : 'quilt'] })),
    },
  }
  const costs = await warmCosts(server, [projects, one, hundred, byHash, thousand, individual])
  const of = (request: Request): Cost => costs.get(request)?.median ?? { ms: 0, bytes: 0 }
  const before = await countQueries(url)
  await send(url, thousand)
  const queries = (await countQueries(url)) - before
  const perByte = (what: string, request: Request): Row =>
    row(`${what}, a byte against a list of 100 projects`, ratio(costs, request, projects), { atMost: 2 }, ' times')
  return [
    perByte('warm update check of 100 hashes', hundred),
    perByte('warm versions by 100 hashes', byHash),
    perByte('warm update check of 1000 hashes', thousand),
    row('its statements', queries, { atMost: 0 }),
    figure('list of 100 projects', shown(of(projects))),
    figure('update check of 100 hashes', shown(of(hundred))),
    figure('versions by 100 hashes', shown(of(byHash))),
    figure('update check of one hash', shown(of(one))),
    figure('update check of 1000 hashes', shown(of(thousand))),
    figure('with a filter for each', shown(of(individual))),
  ]
}

export type Request = { path: string; body?: object }
type WarmCosts = Map<Request, { median: Cost; rounds: Cost[] }>

async function warmCosts(server: RunningDepot, requests: readonly Request[]): Promise<WarmCosts> {
  const rounds: Cost[][] = []
  for (let round = 0; round <= WARM_ROUNDS; round += 1) {
    const costs: Cost[] = []
    for (const request of requests) costs.push(await costUnderLoad(server, request))
    // The first round is for the compiler.
    if (round > 0) rounds.push(costs)
  }
  return new Map(
    requests.map((request, index) => {
      const own = rounds.flatMap((costs) => costs[index] ?? [])
      const median = own.toSorted((a, b) => a.ms - b.ms)[WARM_ROUNDS >> 1] ?? { ms: 0, bytes: 0 }
      return [request, { median, rounds: own }]
    }),
  )
}

/** Returns the cost per byte as a multiple of another request's; the median of the rounds. */
function ratio(costs: WarmCosts, request: Request, base: Request): number {
  const perByte = (each: Request) => (costs.get(each)?.rounds ?? []).map(({ ms, bytes }) => ms / bytes)
  const bases = perByte(base)
  const ratios = perByte(request).map((each, round) => each / (bases[round] ?? 0))
  return ratios.sort((a, b) => a - b)[WARM_ROUNDS >> 1] ?? 0
}

async function costUnderLoad({ url, child }: RunningDepot, request: Request): Promise<Cost> {
  const bytes = await send(url, request)
  const { path, body } = request
  const asked = body === undefined ? path : `POST ${path} ${JSON.stringify(body)}`
  const before = cpuSeconds(child)
  const { requests } = await load(new URL(url).port, [asked], { seconds: SECONDS, connections: 8 })
  return { ms: ((cpuSeconds(child) - before) * 1000) / requests, bytes }
}

/** The mean of requests of which each is sent once, one after the other, including the work of the database. */
export async function costOnce({ url, child }: RunningDepot, count: number, requestOf: () => Request): Promise<Cost> {
  const before = cpuSecondsOfAll(child)
  let bytes = 0
  for (let n = 0; n < count; n += 1) bytes = await send(url, requestOf())
  return { ms: ((cpuSecondsOfAll(child) - before) * 1000) / count, bytes }
}

/** The size of the answer, without compression, which would cost more than all else that is measured here. */
export async function send(url: string, { path, body }: Request): Promise<number> {
  const identity = { 'accept-encoding': 'identity' }
  const init =
    body === undefined
      ? { headers: identity }
      : { method: 'POST', body: JSON.stringify(body), headers: { ...identity, 'content-type': 'application/json' } }
  const answer = await call(`${url}${path}`, init)
  const { byteLength } = await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`${answer.url}: ${answer.status}`)
  return byteLength
}

function shown({ ms, bytes }: Cost): string {
  return `${ms.toFixed(2)} ms of processor, ${Math.ceil(bytes / 1024)} KiB`
}

/** One file of each project that has an answer, in no order of the database's. */
export async function listHashes(db: Db): Promise<string[]> {
  const { rows } = await sql<{ sha1: string }>`select sha1 from (
      select distinct on (version.project_id) sha1 from file join version on version.id = version_id
      where 'fabric' = any(version.loaders) order by version.project_id, version.id) one
    order by md5(sha1)`.execute(db)
  return rows.map(({ sha1 }) => sha1)
}

async function listIds(db: Db, count: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from project order by id limit ${count}`.execute(db)
  return rows.map(({ id }) => id)
}
