// The public site against the API's answers about the same things, and what a page weighs.

import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync } from 'node:zlib'
import { CHROMIUM, openBrowser } from '#test/support/browser/chromium.ts'
import { measurePaint } from '#test/support/browser/paint.ts'
import { depot, makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { loadAssets } from '#web/ui/assets.ts'
import { author, publishProjects, untilFound } from './kit/publish.ts'
import { call, cpuSeconds, headers, load, startBenchDepot } from './kit/servers.ts'
import { figure, type Row, row } from './kit/table.ts'

const PROJECTS = 100
const ROUNDS = 4
const KB = 1024
const DEMO_PROJECTS = 120
const UNTIL_FOUND_MS = 120_000
const LOADS = 5

export async function benchSite(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  try {
    const server = await startBenchDepot(dataDir)
    try {
      await publishProjects(server.url, await author(dataDir), PROJECTS)
      await untilFound(server.url, PROJECTS)
      const rows = [...(await benchThroughput(server)), ...(await benchWeights(server))]
      return [...rows, ...(await benchPaints(server, dataDir))]
    } finally {
      await server.stop()
    }
  } finally {
    remove()
  }
}

/** By the processor time of the server, which other work on the machine does not change as it changes throughput. */
async function benchThroughput({ url, child }: RunningDepot): Promise<Row[]> {
  const { port } = new URL(url)
  const cost = async (path: string): Promise<number> => {
    const before = cpuSeconds(child)
    const { requests } = await load(port, [path])
    return ((cpuSeconds(child) - before) / requests) * 1e6
  }
  const twins = [
    { what: 'warm project page', page: '/mod/bench-0', api: '/v3/project/bench-0', atLeast: 0.6 },
    { what: 'warm search page of 20 hits', page: '/mods', api: SEARCH, atLeast: 0.4 },
  ]
  const rows: Row[] = []
  for (const { what, page, api, atLeast } of twins) {
    // In turn, so that a drifting machine slows both alike; the first round warms up.
    const rounds: { ratio: number; pages: number; answers: number }[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await cost(api)
      const pages = await cost(page)
      if (round > 0) rounds.push({ ratio: answers / pages, pages, answers })
    }
    const middle = rounds.sort((a, b) => a.ratio - b.ratio)[1]
    const detail = `${middle?.answers.toFixed(0)} µs of processor time against ${middle?.pages.toFixed(0)}`
    rows.push(row(`${what}, of the API's answer to the same`, middle?.ratio ?? 0, { atLeast }, '', detail))
  }
  return rows
}

const SEARCH = `/v3/search?limit=20&new_filters=${encodeURIComponent('project_types = mod')}`

/** Compressed as the server sends it. */
async function benchWeights({ url }: RunningDepot): Promise<Row[]> {
  const documentKb = async (path: string): Promise<number> => {
    const answer = await call(`${url}${path}`)
    return brotliCompressSync(Buffer.from(await answer.arrayBuffer())).length / KB
  }
  const assets = loadAssets()
  const assetKb = async (name: Parameters<typeof assets.get>[0]): Promise<number> => {
    const asset = assets.get(name)
    return ((await asset?.encode?.('br')) ?? asset?.bytes ?? []).length / KB
  }
  return [
    row('list of 20 projects, compressed', await documentKb('/mods'), { atMost: 12 }, ' KB'),
    row('page of a project, compressed', await documentKb('/mod/bench-0'), { atMost: 12 }, ' KB'),
    row('style sheet, compressed', await assetKb('site.css'), { atMost: 9 }, ' KB'),
    row('script, compressed', await assetKb('site.js'), { atMost: 6 }, ' KB'),
    row('font', await assetKb('hyperlegible.woff2'), { atMost: 36 }, ' KB'),
  ]
}

/** Measures demo pages with images, with an empty cache on a mobile connection, in Chromium. */
async function benchPaints(server: RunningDepot, dataDir: string): Promise<Row[]> {
  if (!existsSync(CHROMIUM))
    return [figure('largest paint and layout shift', `not measured: no Chromium at ${CHROMIUM}`)]
  // The URLs of images are stored in rows.
  await depot(dataDir, ['seed', '--projects', String(DEMO_PROJECTS)], { BASE_URL: server.url })
  const pages = { home: '/', search: '/search?q=a', project: await mostDownloaded(server) }
  const browser = await openBrowser()
  const rows: Row[] = []
  try {
    for (const [name, path] of Object.entries(pages)) {
      const paints = []
      for (let each = 0; each < LOADS; each += 1)
        paints.push(await measurePaint(browser, `${server.url}${path}`, { headers: headers() }))
      const [fastest = 0, ...later] = paints.map(({ largestMs }) => largestMs).sort((a, b) => a - b)
      const middle = later[Math.floor(LOADS / 2) - 1] ?? fastest
      const detail = `fastest of ${LOADS} loads ${fastest.toFixed(0)} ms`
      rows.push(row(`${name}, largest paint at 1.6 Mbit/s and 150 ms`, middle, { atMost: 1000 }, ' ms', detail))
      const shift = Math.max(...paints.map((paint) => paint.shift))
      rows.push(row(`${name}, layout shift`, shift, { atMost: 0.01 }, '', `most of ${LOADS} loads ${shift.toFixed(5)}`))
    }
  } finally {
    await browser.close()
  }
  return rows
}

/** The path of the demo's most downloaded mod, once the index has the demo. */
async function mostDownloaded({ url }: RunningDepot): Promise<string> {
  const filter = encodeURIComponent('project_types = mod')
  for (const startedAt = performance.now(); performance.now() - startedAt < UNTIL_FOUND_MS; await sleep(100)) {
    const answer = await call(`${url}/v3/search?limit=1&index=downloads&new_filters=${filter}`)
    const { hits } = (await answer.json()) as { hits: { slug: string; downloads: number }[] }
    const [first] = hits
    if (first !== undefined && first.downloads > 0 && !first.slug.startsWith('bench-')) return `/mod/${first.slug}`
  }
  throw new Error('The search index has not found the demo')
}
