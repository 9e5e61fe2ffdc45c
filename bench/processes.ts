// Two HTTP processes against one, and against two servers that share nothing, in one run: requests a second, processor
// time a request, memory of each process, and how old a read at another process can be.
import { readFileSync } from 'node:fs'
import { makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { author, publishProjects } from './http.ts'
import { call, cpuSecondsOfAll, descendants, type Load, load, startBenchDepot } from './kit/servers.ts'
import { figure, type Row, row } from './kit/table.ts'

const SECONDS = 6
/** Number of requests before the measurement, during which Node.js compiles and optimises the code. */
const WARM_UP_REQUESTS = 20_000
const CONNECTIONS = 32
const WRITES = 300
const PROJECTS = 50
/** Runs of each kind, in turns, because the speed of the machine can change. */
const ROUNDS = 3

/** Data folders with the same projects, and the requests to a server on each. */
type Catalogue = { dataDir: string; token: string; projects: string[]; lists: string[] }
type Target = { server: RunningDepot; paths: string[] }
type Cost = { perSecond: number; cpuMs: number }

export async function benchProcesses(): Promise<Row[]> {
  const undo = new AsyncDisposableStack()
  try {
    const near = await makeCatalogue(undo)
    const far = await makeCatalogue(undo)
    return [
      ...(await compare('warm projects', near, far, ({ projects }) => projects)),
      ...(await compare('warm lists of ten projects', near, far, ({ lists }) => lists)),
      ...(await withServer(near.dataDir, 2, async (server) => [
        ...(await memory(server, near.projects)),
        ...(await staleness(server, near.token)),
      ])),
    ]
  } finally {
    await undo.disposeAsync()
  }
}

async function makeCatalogue(undo: AsyncDisposableStack): Promise<Catalogue> {
  const { dataDir, remove } = makeDataDir()
  undo.defer(remove)
  return withServer(dataDir, 1, async ({ url }) => {
    const token = await author(dataDir)
    const ids = await publishProjects(url, token, PROJECTS)
    const ten = (from: number): string[] => Array.from({ length: 10 }, (_, n) => ids[(from + n) % ids.length] ?? '')
    return {
      dataDir,
      token,
      projects: ids.map((id) => `/v3/project/${id}`),
      lists: ids.map((_, n) => `/v3/projects?ids=${encodeURIComponent(JSON.stringify(ten(n)))}`),
    }
  })
}

/**
 * The load generator takes a core's time as well, the more of it the less a request costs the server: two servers that
 * share nothing show what this machine has to give.
 */
async function compare(
  what: string,
  near: Catalogue,
  far: Catalogue,
  pathsOf: (catalogue: Catalogue) => string[],
): Promise<Row[]> {
  const ones: Cost[] = []
  const twos: Cost[] = []
  const apart: Cost[] = []
  const paths = pathsOf(near)
  for (let round = 0; round < ROUNDS; round += 1) {
    ones.push(await withServer(near.dataDir, 1, (server) => measure([{ server, paths }], 1)))
    twos.push(await withServer(near.dataDir, 2, (server) => measure([{ server, paths }], 2)))
    apart.push(
      await withServer(near.dataDir, 1, (server) =>
        withServer(far.dataDir, 1, (other) =>
          measure(
            [
              { server, paths },
              { server: other, paths: pathsOf(far) },
            ],
            1,
          ),
        ),
      ),
    )
  }
  const [one, two, separate] = [middle(ones), middle(twos), middle(apart)]
  const shown = ({ perSecond, cpuMs }: Cost): string => `${perSecond.toFixed(0)}/s, ${cpuMs.toFixed(3)} ms a request`
  return [
    row(`${what}: two processes / one, requests a second`, two.perSecond / one.perSecond, { atLeast: 1.6 }, '×'),
    row('… processor time a request', two.cpuMs / one.cpuMs, { atMost: 1.15 }, '×', `${shown(one)}; ${shown(two)}`),
    figure(
      '… two servers that share nothing / one, requests a second',
      `${(separate.perSecond / one.perSecond).toFixed(2)}×`,
    ),
    figure('… processor time a request', `${(separate.cpuMs / one.cpuMs).toFixed(2)}× (${shown(separate)})`),
  ]
}

async function withServer<T>(dataDir: string, count: number, act: (server: RunningDepot) => Promise<T>): Promise<T> {
  const server = await startBenchDepot(dataDir, { HTTP_PROCESSES: String(count) })
  try {
    return await act(server)
  } finally {
    await server.stop()
  }
}

/** Processor time is that of all processes of the servers, the databases included. */
async function measure(targets: Target[], processes: number): Promise<Cost> {
  const connections = CONNECTIONS / targets.length
  const loadAll = async (seconds: number): Promise<{ requests: number; perSecond: number }> => {
    const loads = await Promise.all(
      targets.map(({ server, paths }) => load(new URL(server.url).port, paths, { seconds, connections })),
    )
    const sum = (of: (load: Load) => number): number => loads.reduce((total, each) => total + of(each), 0)
    return { requests: sum(({ requests }) => requests), perSecond: sum(({ perSecond }) => perSecond) }
  }
  const cpu = (): number => targets.reduce((total, { server }) => total + cpuSecondsOfAll(server.child), 0)
  const enough = WARM_UP_REQUESTS * processes * targets.length
  for (let asked = 0; asked < enough; ) asked += (await loadAll(2)).requests
  const before = cpu()
  const { requests, perSecond } = await loadAll(SECONDS)
  return { perSecond, cpuMs: ((cpu() - before) * 1000) / requests }
}

const middle = (costs: Cost[]): Cost => ({
  perSecond: median(costs.map(({ perSecond }) => perSecond)),
  cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
})

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** Measures the private memory of each process after load; shared pages count once. */
async function memory(server: RunningDepot, paths: string[]): Promise<Row[]> {
  await load(new URL(server.url).port, paths, { seconds: 4, connections: CONNECTIONS })
  const children = descendants(server.child.pid ?? 0).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('http-child'),
  )
  const own = children.map((pid) => {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)
    return { own: (kilobytes('Private_Dirty') + kilobytes('Private_Clean')) / 1024, resident: kilobytes('Rss') / 1024 }
  })
  const resident = own.map((each) => each.resident.toFixed(0)).join(', ')
  const most = Math.max(...own.map((each) => each.own))
  return [row('private memory of an HTTP process, after load', most, { atMost: 120 }, ' MB', `${resident} MB resident`)]
}

/**
 * Measures for how long after the response to a write a read on a new connection returns the previous state. The target
 * is never.
 */
async function staleness(server: RunningDepot, token: string): Promise<Row[]> {
  const { id } = (await (await call(`${server.url}/v3/user`, { token })).json()) as { id: string }
  const ages: number[] = []
  const writes: number[] = []
  let stale = 0
  const bio = async (): Promise<string> => {
    const response = await call(`${server.url}/v3/user/${id}`, { headers: { connection: 'close' } })
    return ((await response.json()) as { bio: string }).bio
  }
  for (let n = 0; n < WRITES; n += 1) {
    await Promise.all([bio(), bio(), bio()])
    const startedAt = performance.now()
    const written = await call(`${server.url}/v3/user/${id}`, {
      method: 'PATCH',
      token,
      body: JSON.stringify({ bio: `state ${n}` }),
      headers: { 'content-type': 'application/json', connection: 'close' },
    })
    if (!written.ok) throw new Error(`A write was answered ${written.status}`)
    const answeredAt = performance.now()
    writes.push(answeredAt - startedAt)
    let lastStaleAt = answeredAt
    for (let read = 0; read < 4; read += 1) {
      const seen = await bio()
      if (seen === `state ${n}`) continue
      stale += 1
      lastStaleAt = performance.now()
    }
    ages.push(lastStaleAt - answeredAt)
  }
  const at = (values: number[], share: number): string =>
    `${(values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0).toFixed(1)} ms`
  return [
    row(`reads of ${WRITES * 4} on new connections that were older than an answered write`, stale, { atMost: 0 }),
    figure(
      'staleness after an answered write, p50, p99, worst',
      [0.5, 0.99, 1].map((share) => at(ages, share)).join(', '),
    ),
    figure('time of such a write, p50, p99', [0.5, 0.99].map((share) => at(writes, share)).join(', ')),
  ]
}
