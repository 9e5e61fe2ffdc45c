// Two HTTP processes against one, in one run: requests a second, processor time a request, memory of each process, and
// how old a read at another process can be.
import { readFileSync } from 'node:fs'
import { makeDataDir, type RunningDepot } from '#test/support/running-depot.ts'
import { author, publishProjects } from './http.ts'
import { call, cpuSecondsOfAll, descendants, load, startBenchDepot } from './servers.ts'
import { figure, type Row, row } from './table.ts'

const SECONDS = 8
const CONNECTIONS = 32
const WRITES = 300
/** Runs of each server, taken in turns: the machine may change its mind meanwhile. */
const ROUNDS = 3

type Cost = { perSecond: number; cpuMs: number }

export async function benchProcesses(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  try {
    const rows: Row[] = []
    const first = await startBenchDepot(dataDir)
    const token = await author(dataDir)
    const ids = await publishProjects(first.url, token, 50)
    await first.stop()
    const paths = ids.map((id) => `/v3/project/${id}`)
    const costs: Record<'one' | 'two', Cost[]> = { one: [], two: [] }
    for (let round = 0; round < ROUNDS; round += 1) {
      costs.one.push(await withServer(dataDir, 1, (server) => measure(server, paths)))
      costs.two.push(await withServer(dataDir, 2, (server) => measure(server, paths)))
    }
    const one = middle(costs.one)
    const two = middle(costs.two)
    const shown = ({ perSecond, cpuMs }: Cost): string => `${perSecond.toFixed(0)}/s, ${cpuMs.toFixed(3)} ms a request`
    rows.push(
      row(
        'warm projects: two processes / one, requests a second',
        two.perSecond / one.perSecond,
        { atLeast: 1.6 },
        '×',
      ),
      row('… processor time a request', two.cpuMs / one.cpuMs, { atMost: 1.15 }, '×', `${shown(one)}; ${shown(two)}`),
    )
    rows.push(
      ...(await withServer(dataDir, 2, async (server) => [
        ...(await memory(server, paths)),
        ...(await staleness(server, token)),
      ])),
    )
    return rows
  } finally {
    remove()
  }
}

async function withServer<T>(dataDir: string, count: number, act: (server: RunningDepot) => Promise<T>): Promise<T> {
  const server = await startBenchDepot(dataDir, { HTTP_PROCESSES: String(count) })
  try {
    return await act(server)
  } finally {
    await server.stop()
  }
}

/** Processor time is that of all processes of the server, the database included, whoever else is busy. */
async function measure(server: RunningDepot, paths: string[]): Promise<Cost> {
  const { port } = new URL(server.url)
  await load(port, paths, { seconds: 3, connections: CONNECTIONS })
  const before = cpuSecondsOfAll(server.child)
  const { requests, perSecond } = await load(port, paths, { seconds: SECONDS, connections: CONNECTIONS })
  return { perSecond, cpuMs: ((cpuSecondsOfAll(server.child) - before) * 1000) / requests }
}

const middle = (costs: Cost[]): Cost => ({
  perSecond: median(costs.map(({ perSecond }) => perSecond)),
  cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
})

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** What each process has for itself, after load: pages that it shares with others are there once. */
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
  return [
    row('memory of its own of an HTTP process, after load', most, { atMost: 120 }, ' MB', `${resident} MB resident`),
  ]
}

/** How long after the answer to a write a read on a new connection may still give the state before: never is wanted. */
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
