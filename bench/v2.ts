// The v2 API compared with the v3 API: the processor time of the same requests in both.

import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '#lib/time.ts'
import { makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { author, publishProjects } from './http.ts'
import { call, countQueries, cpuSeconds, load, startBenchDepot } from './kit/servers.ts'
import { type Row, row } from './kit/table.ts'

const PROJECTS = 100
const ROUNDS = 5
const SECONDS = 2
const UNTIL_FOUND_MS = MINUTE_MS

export async function benchV2(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  try {
    const server = await startBenchDepot(dataDir)
    try {
      const ids = await publishProjects(server.url, await author(dataDir), PROJECTS)
      await untilFound(server)
      return await benchTwins(server, ids)
    } finally {
      await server.stop()
    }
  } finally {
    remove()
  }
}

/** Until the index has all projects: the search that is measured shall have a full page. */
export async function untilFound({ url }: RunningDepot): Promise<void> {
  for (const startedAt = performance.now(); performance.now() - startedAt < UNTIL_FOUND_MS; await sleep(100)) {
    const { total_hits } = (await (await call(`${url}/v3/search`)).json()) as { total_hits: number }
    if (total_hits === PROJECTS) return
  }
  throw new Error('The search index has not found the projects')
}

async function benchTwins(server: RunningDepot, ids: string[]): Promise<Row[]> {
  const project = (await (await call(`${server.url}/v3/project/${ids[0]}`)).json()) as { versions: string[] }
  const all = `ids=${encodeURIComponent(JSON.stringify(ids))}`
  const twins = [
    { what: 'warm read of a project', path: 'project/bench-0', atMost: 1.15 },
    { what: 'warm read of a version', path: `version/${project.versions[0]}`, atMost: 1.15 },
    { what: 'warm list of 100 projects', path: `projects?${all}`, atMost: 1.15 },
    { what: 'version list of a project', path: 'project/bench-0/version', atMost: 1.15 },
    { what: 'search of 100 hits', path: 'search?limit=100', atMost: 1.3 },
  ]
  const rows: Row[] = []
  for (const { what, path, atMost } of twins) {
    const { ratio, older, newer } = await compare(server, path)
    rows.push(
      row(
        `${what} in /v2, processor time against /v3`,
        ratio,
        { atMost },
        ' times',
        `${older.toFixed(3)} against ${newer.toFixed(3)} ms`,
      ),
    )
    const more = (await queriesOf(server, `/v2/${path}`)) - (await queriesOf(server, `/v3/${path}`))
    rows.push(row(`statements more than /v3`, more, { atMost: 0 }))
  }
  return rows
}

/** The median of rounds in turn, so that a drifting machine slows both alike; the first round warms up. */
async function compare(server: RunningDepot, path: string) {
  const rounds: { older: number; newer: number }[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [older, newer] = [await costMs(server, `/v2/${path}`), await costMs(server, `/v3/${path}`)]
    if (round > 0) rounds.push({ older, newer })
  }
  rounds.sort((a, b) => a.older / a.newer - b.older / b.newer)
  const { older, newer } = rounds[Math.floor(ROUNDS / 2)] ?? { older: 0, newer: 1 }
  return { older, newer, ratio: older / newer }
}

async function costMs({ url, child }: RunningDepot, path: string): Promise<number> {
  const before = cpuSeconds(child)
  const { requests } = await load(new URL(url).port, [path], { seconds: SECONDS, connections: 8 })
  return ((cpuSeconds(child) - before) / requests) * 1000
}

async function queriesOf({ url }: RunningDepot, path: string): Promise<number> {
  const before = await countQueries(url)
  await (await call(`${url}${path}`)).arrayBuffer()
  return (await countQueries(url)) - before
}
