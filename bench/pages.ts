// Cached pages for visitors and for signed-in readers, against the API's response for a project at commit 6d01877.
import { setTimeout as sleep } from 'node:timers/promises'
import { depot, ENTRY, makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { checkOut, createUser, type FilledServer, startFilled } from './compare/checkout.ts'
import { PASSWORD } from './http.ts'
import { call, cpuSeconds, load, signIn } from './kit/servers.ts'
import { type Row, row } from './kit/table.ts'

const ROUNDS = 4
const SECONDS = 1.5
const CONNECTIONS = 16
const DEMO_PROJECTS = 120
/** Some demo projects are in no search. */
const FOUND_MIN = 100
const UNTIL_FOUND_MS = 120_000
const READER = 'bench-reader'
/** At this commit, the fast path served the API's project. */
const BASELINE = '6d01877'

async function untilFound(url: string): Promise<void> {
  for (const startedAt = performance.now(); performance.now() - startedAt < UNTIL_FOUND_MS; await sleep(100)) {
    const { total_hits } = (await (await call(`${url}/v3/search`)).json()) as { total_hits: number }
    if (total_hits >= FOUND_MIN) return
  }
  throw new Error('The search index has not found the demo')
}

export async function benchPages(): Promise<Row[]> {
  const folders = [makeDataDir(), makeDataDir()] as const
  const started: RunningDepot[] = []
  try {
    const now = await startFilled(ENTRY, folders[0].dataDir, { projects: 1, started })
    const { dataDir } = folders[0]
    await depot(dataDir, ['seed', '--projects', String(DEMO_PROJECTS)], { BASE_URL: now.server.url })
    await untilFound(now.server.url)
    const person = { username: READER, password: PASSWORD }
    await createUser(ENTRY, dataDir, READER)
    const before = await startFilled(await checkOut(BASELINE), folders[1].dataDir, { projects: 1, started })
    return await compare(now, before, await signIn(now.server.url, person))
  } finally {
    for (const server of started) await server.stop()
    for (const { remove } of folders) remove()
  }
}

/** By the processor time of the server, which other work on the machine does not change as it changes throughput. */
async function compare(now: FilledServer, before: FilledServer, session: string): Promise<Row[]> {
  const pages = await findPages(now.server.url)
  const cookie = await withToken(now.server.url, session)
  const readers = [
    { name: 'a visitor', headers: {}, expects: 'href="/account/sign-in?', atLeast: 0.5 },
    { name: 'a signed-in reader', headers: { cookie }, expects: `<span class="name">${READER}</span>`, atLeast: 0.25 },
  ]
  const cases = readers.flatMap((reader) => Object.entries(pages).map(([page, path]) => ({ ...reader, page, path })))
  const ratios = new Map(cases.map((each) => [each, [] as number[]]))
  const costs = new Map<unknown, number>()
  // In turn, so that a drifting machine slows all alike; the first round warms up.
  for (let round = 0; round < ROUNDS; round += 1) {
    const [projectId = ''] = before.ids
    const yardstick = await cost(before.server, { path: `/v3/project/${projectId}`, headers: {}, expects: projectId })
    for (const each of cases) {
      const own = await cost(now.server, each)
      costs.set(each, own)
      if (round > 0) ratios.get(each)?.push(yardstick / own)
    }
  }
  return cases.map((each) => {
    const sorted = (ratios.get(each) ?? []).sort((a, b) => a - b)
    const what = `${each.page} for ${each.name}, of the API's project at commit ${BASELINE}`
    const detail = `${costs.get(each)?.toFixed(0)} µs`
    return row(what, sorted[Math.floor(sorted.length / 2)] ?? 0, { atLeast: each.atLeast }, '', detail)
  })
}

type Request = { path: string; headers: Record<string, string>; expects: string }

/** Processor time of a request, in µs. */
async function cost({ url, child }: RunningDepot, { path, headers, expects }: Request): Promise<number> {
  const before = cpuSeconds(child)
  const { requests } = await load(new URL(url).port, [path], {
    seconds: SECONDS,
    connections: CONNECTIONS,
    headers: { accept: path.startsWith('/v3/') ? 'application/json' : 'text/html', ...headers },
    expects,
  })
  return ((cpuSeconds(child) - before) / requests) * 1e6
}

/** The pages of the most downloaded demo project, and of the people around it. */
async function findPages(url: string): Promise<Record<string, string>> {
  const json = async (path: string) => (await call(`${url}${path}`)).json()
  const filter = encodeURIComponent('project_types = mod')
  const { hits } = (await json(`/v3/search?limit=20&index=downloads&new_filters=${filter}`)) as {
    hits: { slug: string }[]
  }
  const slug = hits.find((hit) => !hit.slug.startsWith('bench-'))?.slug ?? ''
  const home = await (await call(`${url}/`, { headers: { accept: 'text/html' } })).text()
  const members = (await json(`/v3/project/${slug}/members`)) as { user: { username: string } }[]
  const organizations = await Promise.all(
    hits.map(async (hit) => ((await json(`/v3/project/${hit.slug}`)) as { organization: string | null }).organization),
  )
  const { slug: organization } = (await json(`/v3/organization/${organizations.find((id) => id !== null)}`)) as {
    slug: string
  }
  const project = `/mod/${slug}`
  return {
    home: '/',
    list: '/mods',
    project,
    'used-by': `${project}/used-by`,
    statistics: `${project}/statistics`,
    profile: `/user/${members[0]?.user.username}`,
    organization: `/organization/${organization}`,
    collection: /\/collection\/\w+/.exec(home)?.[0] ?? '',
  }
}

/** Adds the cookie of the CSRF token, which browsers get with their first page. */
async function withToken(url: string, session: string): Promise<string> {
  const answer = await call(`${url}/`, { headers: { accept: 'text/html', cookie: session } })
  const token = answer.headers.getSetCookie().find((each) => each.includes('csrf'))
  if (token === undefined) throw new Error('The page for a signed-in reader sets no cookie for its forms')
  return `${session}; ${token.split(';')[0]}`
}
