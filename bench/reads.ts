// Warm reads as clients send them: with Accept-Encoding and with a token, against bare node:http with the same bytes and
// headers; and lists in each coding.
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { author, createToken, publishProjects } from './kit/publish.ts'
import { call, cpuSeconds, load, headers as ownHeaders, startBare, startBenchDepot } from './kit/servers.ts'
import { type Row, row } from './kit/table.ts'

/** The first round warms up. */
const ROUNDS = 6
const SECONDS = 1
const PROJECTS = 100
/** Number of lists per round that are requested once each. */
const LISTS = 40

const listPath = (ids: readonly string[]): string => `/v3/projects?ids=${encodeURIComponent(JSON.stringify(ids))}`

type Headers = Record<string, string>
type Process = Pick<RunningDepot, 'child'> & { port: string | number }

export async function benchReads(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const server = await startBenchDepot(dataDir)
  try {
    const token = await author(dataDir)
    const ids = await publishProjects(server.url, token, PROJECTS)
    // An admin sees more of a user than others, in a response that is not cached.
    const reader = await createToken(dataDir, 'reader')
    return [
      ...(await single(server, { dataDir, token: reader, ids })),
      ...(await lists(server, ids)),
      ...(await people(server, reader, ids)),
    ]
  } finally {
    await server.stop()
    remove()
  }
}

const processOf = ({ url, child }: RunningDepot): Process => ({ port: new URL(url).port, child })

async function single(
  server: RunningDepot,
  { dataDir, token, ids }: { dataDir: string; token: string; ids: string[] },
): Promise<Row[]> {
  const [version] = (await (await call(`${server.url}/v3/project/${ids[0]}/version`)).json()) as { id: string }[]
  const paths = {
    project: `/v3/project/${ids[0]}`,
    version: `/v3/version/${version?.id}`,
    user: '/v3/user/bench',
    'own account': '/v3/user',
  }
  const ways: Record<string, Headers> = {
    plain: {},
    gzip: { 'accept-encoding': 'gzip, deflate' },
    zstd: { 'accept-encoding': 'gzip, deflate, br, zstd' },
    'a token': { authorization: token },
    'a token and gzip': { authorization: token, 'accept-encoding': 'gzip, deflate' },
  }
  const rows: Row[] = []
  for (const [name, path] of Object.entries(paths)) {
    const known = path === '/v3/user' ? { authorization: token } : {}
    const { etag = '' } = (await rawOf(server, path, known)).headers
    for (const [way, headers] of Object.entries({ ...ways, '304': { ...known, 'if-none-match': etag } })) {
      if (path === '/v3/user' && headers['authorization'] === undefined) continue
      for (let n = 0; n < 3; n += 1) await rawOf(server, path, headers)
      const raw = await rawOf(server, path, headers)
      const file = join(dataDir, 'body')
      await writeFile(file, raw.body)
      const bare = await startBare('memory', file, raw.headers)
      const { ratio, spread, ms } = await compare(bare, processOf(server), { path, headers })
      bare.stop()
      rows.push(
        row(
          `${name}, ${way}: bare node:http, of Depot`,
          ratio,
          { atLeast: 0.7 },
          '',
          `${spread}, ${(ms * 1000).toFixed(1)} µs`,
        ),
      )
    }
  }
  return rows
}

/** Returns the response as it arrives, without the headers of the connection. */
function rawOf({ url }: RunningDepot, path: string, headers: Headers): Promise<{ body: Buffer; headers: Headers }> {
  return new Promise((resolve, reject) => {
    request(`${url}${path}`, { headers: { ...ownHeaders(), ...headers } }, async (res) => {
      const { date: _, connection: __, 'keep-alive': ___, ...kept } = res.headers
      resolve({ body: Buffer.concat(await res.toArray()), headers: kept as Headers })
    })
      .on('error', reject)
      .end()
  })
}

/** Processor time per request of the first process, of the second, in alternating rounds. */
async function compare(first: Process, second: Process, { path, headers }: { path: string; headers: Headers }) {
  const ratios: number[] = []
  let ms = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const theirs = await cost(first, [path], headers)
    ms = await cost(second, [path], headers)
    if (round > 0) ratios.push(theirs / ms)
  }
  return { ...middleOf(ratios), ms }
}

function middleOf(ratios: number[]): { ratio: number; spread: string } {
  ratios.sort((a, b) => a - b)
  const spread = `${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)}`
  return { ratio: ratios[ratios.length >> 1] ?? 0, spread }
}

/** Processor time of a request, in milliseconds. */
async function cost({ port, child }: Process, paths: string[], headers: Headers): Promise<number> {
  const before = cpuSeconds(child)
  const { requests } = await load(port, paths, { seconds: SECONDS, connections: 8, headers })
  return ((cpuSeconds(child) - before) / requests) * 1000
}

const CODINGS = { zstd: 3, br: 4.5, gzip: 8 } as const

/** Lists of 100 projects: the same one again and again, and different ones. */
async function lists(server: RunningDepot, ids: string[]): Promise<Row[]> {
  const depot = processOf(server)
  const list = ids.slice(0, 100)
  const rows: Row[] = []
  for (const [coding, atMost] of Object.entries(CODINGS)) {
    const headers = { 'accept-encoding': coding }
    const [again, first]: [number[], number[]] = [[], []]
    for (let round = 0; round < ROUNDS; round += 1) {
      const plain = await cost(depot, [listPath(list)], {})
      const coded = await cost(depot, [listPath(list)], headers)
      const fresh = await firstCost(depot, server.url, list, headers)
      const freshPlain = await firstCost(depot, server.url, list, { 'accept-encoding': 'identity' })
      if (round === 0) continue
      again.push(coded / plain)
      first.push(fresh / freshPlain)
    }
    const [a, b] = [middleOf(first), middleOf(again)]
    rows.push(
      row(
        `list of 100 projects, ${coding} for the first time, of uncompressed`,
        a.ratio,
        { atMost },
        ' times',
        a.spread,
      ),
    )
    rows.push(
      row(`list of 100 projects, ${coding} again, of uncompressed`, b.ratio, { atMost: 1.3 }, ' times', b.spread),
    )
  }
  return rows
}

/** Processor time of lists that were never requested: each has its own order. */
async function firstCost({ child }: Process, url: string, ids: readonly string[], headers: Headers): Promise<number> {
  const paths = Array.from({ length: LISTS }, () => listPath(ids.toSorted(() => Math.random() - 0.5)))
  const before = cpuSeconds(child)
  for (const path of paths) await (await call(`${url}${path}`, { headers })).arrayBuffer()
  return ((cpuSeconds(child) - before) / LISTS) * 1000
}

/** Reads with a token, of the same read without one. */
async function people(server: RunningDepot, token: string, ids: string[]): Promise<Row[]> {
  const depot = processOf(server)
  const [version] = (await (await call(`${server.url}/v3/project/${ids[0]}/version`)).json()) as { id: string }[]
  const paths = [`/v3/project/${ids[0]}`, `/v3/version/${version?.id}`, '/v3/user/bench', '/v3/search?limit=20']
  const rows: Row[] = []
  for (const path of paths) {
    const ratios: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const anonymous = await cost(depot, [path], {})
      const known = await cost(depot, [path], { authorization: token })
      if (round > 0) ratios.push(known / anonymous)
    }
    const { ratio, spread } = middleOf(ratios)
    rows.push(
      row(
        `${path.split('/')[2]?.split('?')[0]} with a token, of the same without`,
        ratio,
        { atMost: 1.3 },
        ' times',
        spread,
      ),
    )
  }
  return rows
}
