// This commit against another one, route by route: processor time per request of two servers with the same catalogue, in
// alternating rounds.
import { makeZip } from '#test/support/factories/archives.ts'
import { ENTRY, makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { checkOut, type FilledServer, startFilled } from './kit/checkout.ts'
import { VERSION } from './kit/publish.ts'
import { BYPASS_KEY, call, cpuSeconds, load } from './kit/servers.ts'
import type { Row } from './kit/table.ts'

/** The first round warms up. */
const ROUNDS = 7
const SECONDS = 0.7
const CONNECTIONS = 16
const PROJECTS = 100
const VERSIONS = 20
/** Smaller differences are reported as none, even if the interval excludes 1. */
const NOTICED = 0.02
/** Student's t for an interval of 95 % with six ratios. */
const T_95 = 2.571

const WAYS: Record<string, Record<string, string>> = { plain: {}, gzip: { 'accept-encoding': 'gzip' } }

/** A request to one of the servers. `needsToken`: the route needs a signed-in user. */
type Route = { request: string; needsToken?: true }

type Measured = {
  route: string
  way: string
  /** Microseconds of processor time of a request: this commit, the other. */
  now: number
  before: number
  /** Time of the other commit, of this one: above 1, this commit is faster. With the bounds of its interval of 95 %. */
  ratio: number
  low: number
  high: number
}

/** Compares with a commit, and returns a row for each route and way. */
export async function benchCompare(commit: string): Promise<Row[]> {
  return (await measureAgainst(commit)).map(({ route, way, now, before, ratio, low, high }) => {
    const isReal = (low > 1 || high < 1) && Math.abs(ratio - 1) > NOTICED
    return {
      what: `${route}, ${way}: processor time at ${commit}, of now`,
      measured: `${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)}; ${before.toFixed(0)} and ${now.toFixed(0)} µs)`,
      wanted: isReal ? (ratio > 1 ? 'faster' : 'slower') : 'no difference',
      reached: undefined,
      value: ratio,
    }
  })
}

async function measureAgainst(commit: string): Promise<Measured[]> {
  const folders = [makeDataDir(), makeDataDir()] as const
  const started: RunningDepot[] = []
  try {
    const options = { projects: PROJECTS, started }
    const now = await startFilled(ENTRY, folders[0].dataDir, options)
    const then = await startFilled(await checkOut(commit), folders[1].dataDir, options)
    const [ours, theirs] = [await routesOf(now), await routesOf(then)]
    const measured: Measured[] = []
    for (const [route, mine] of Object.entries(ours)) {
      const other = theirs[route]
      if (other === undefined) continue
      for (const [way, headers] of waysOf(mine)) {
        const tokens = way.startsWith('token')
        const send = ({ server, token }: FilledServer, { request }: Route) =>
          // The rate of a user does not depend on the address, so these requests send the key that permits every rate.
          cost(server, request, tokens ? { ...headers, authorization: token, 'x-ratelimit-key': BYPASS_KEY } : headers)
        const [times, ratios]: [[number, number][], number[]] = [[], []]
        for (let round = 0; round < ROUNDS; round += 1) {
          const pair: [number, number] = [await send(now, mine), await send(then, other)]
          if (round === 0) continue
          times.push(pair)
          ratios.push(pair[1] / pair[0])
        }
        const middle = (side: 0 | 1) => times.map((pair) => pair[side]).sort((a, b) => a - b)[times.length >> 1] ?? 0
        measured.push({ route, way, now: middle(0), before: middle(1), ...intervalOf(ratios) })
      }
    }
    return measured
  } finally {
    for (const server of started) await server.stop()
    for (const { remove } of folders) remove()
  }
}

function waysOf({ needsToken }: Route): [string, Record<string, string>][] {
  const anonymous = Object.entries(WAYS)
  const known = anonymous.map(([way, headers]): [string, Record<string, string>] => [
    way === 'plain' ? 'token' : `token, ${way}`,
    headers,
  ])
  return needsToken ? known : [...anonymous, ...known]
}

async function routesOf({ server: { url }, token, ids }: FilledServer): Promise<Record<string, Route>> {
  const json = async (path: string) => (await call(`${url}${path}`)).json()
  const projects = `/v3/projects?ids=${encodeURIComponent(JSON.stringify(ids))}`
  const hashes = await Promise.all(
    ids.map(async (id) => {
      const [version] = (await json(`/v3/project/${id}/version`)) as { files: { hashes: { sha1: string } }[] }[]
      return version?.files[0]?.hashes.sha1 ?? ''
    }),
  )
  for (let n = 1; n < VERSIONS; n += 1) await addVersion(url, token, { project: ids[0] ?? '', n })
  const [version] = (await json(`/v3/project/${ids[1]}/version`)) as { id: string }[]
  const check = { hashes, algorithm: 'sha1', loaders: ['fabric'], game_versions: ['1.20.1'] }
  return {
    project: { request: `/v3/project/${ids[0]}` },
    version: { request: `/v3/version/${version?.id}` },
    user: { request: '/v3/user/bench' },
    'own account': { request: '/v3/user', needsToken: true },
    '100 projects': { request: projects },
    'versions of a project': { request: `/v3/project/${ids[0]}/version` },
    'update check, 100 hashes': { request: `POST /v3/version_files/update ${JSON.stringify(check)}` },
    'versions by 100 hashes': { request: `POST /v3/version_files ${JSON.stringify({ hashes, algorithm: 'sha1' })}` },
    search: { request: '/v3/search?limit=20' },
    'page of a project': { request: '/mod/bench-0' },
    'page of a list': { request: '/mods' },
  }
}

async function addVersion(url: string, token: string, { project, n }: { project: string; n: number }): Promise<void> {
  const form = new FormData()
  const version = { ...VERSION, project_id: project, version_number: `1.${n}`, version_title: `Version ${n}` }
  form.append('data', JSON.stringify(version))
  form.append(
    'file',
    new Blob([Uint8Array.from(makeZip([{ name: 'fabric.mod.json', data: `{"version":${n}}` }]))]),
    `bench-${n}.jar`,
  )
  const { status } = await call(`${url}/v3/version`, { method: 'POST', token, body: form })
  if (status >= 300) throw new Error(`A version was not created: ${status}`)
}

/** Processor time of a request, in microseconds. */
async function cost({ url, child }: RunningDepot, request: string, headers: Record<string, string>): Promise<number> {
  const before = cpuSeconds(child)
  const { requests } = await load(new URL(url).port, [request], { seconds: SECONDS, connections: CONNECTIONS, headers })
  return ((cpuSeconds(child) - before) / requests) * 1e6
}

/** The mean of ratios and its interval of 95 %, on a logarithmic scale. */
function intervalOf(ratios: readonly number[]): { ratio: number; low: number; high: number } {
  const logs = ratios.map(Math.log)
  const mean = logs.reduce((sum, each) => sum + each, 0) / logs.length
  const variance = logs.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (logs.length - 1)
  const half = T_95 * Math.sqrt(variance / logs.length)
  return { ratio: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) }
}
