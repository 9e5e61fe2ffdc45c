// Cached pages for visitors and for signed-in readers, against the API's response for a project at commit 6d01877.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { depot, ENTRY, makeDataDir, type RunningDepot, startDepotBy } from '#test/support/processes/running-depot.ts'
import { PASSWORD, publishProjects } from './http.ts'
import { BENCH_ENVIRONMENT, call, cpuSeconds, load, signIn, startBenchDepot } from './kit/servers.ts'
import { type Row, row } from './kit/table.ts'

const run = promisify(execFile)
const ROUNDS = 4
const SECONDS = 1.5
const CONNECTIONS = 16
const DEMO_PROJECTS = 120
/** Some demo projects are in no search. */
const FOUND_MIN = 100
const UNTIL_FOUND_MS = 120_000
const READER = 'bench-reader'
/** Folder with commit 6d01877 and its node_modules, such as a worktree of git. */
const BASELINE = process.env['BENCH_BASELINE']
/**
 * The share of its throughput at commit 6d01877 that the project of the API reaches now. Measured with 21 against 34 µs
 * of processor time in alternating rounds: at that commit, the fast path served it too. Used without `BENCH_BASELINE`.
 */
const SHARE_NOW = 0.62

async function untilFound(url: string): Promise<void> {
  for (const startedAt = performance.now(); performance.now() - startedAt < UNTIL_FOUND_MS; await sleep(100)) {
    const { total_hits } = (await (await call(`${url}/v3/search`)).json()) as { total_hits: number }
    if (total_hits >= FOUND_MIN) return
  }
  throw new Error('The search index has not found the demo')
}

type Server = { server: RunningDepot; projectId: string }

export async function benchPages(): Promise<Row[]> {
  const folders = [makeDataDir(), makeDataDir()] as const
  const started: RunningDepot[] = []
  try {
    const now = await startWithProject(folders[0].dataDir, ENTRY, started)
    const { dataDir } = folders[0]
    await depot(dataDir, ['seed', '--projects', String(DEMO_PROJECTS)], { BASE_URL: now.server.url })
    await untilFound(now.server.url)
    const person = { username: READER, password: PASSWORD }
    await createUser(ENTRY, dataDir, READER)
    const before =
      BASELINE === undefined
        ? undefined
        : await startWithProject(folders[1].dataDir, join(BASELINE, 'bin/depot.mjs'), started)
    return await compare(now, before, await signIn(now.server.url, person))
  } finally {
    for (const server of started) await server.stop()
    for (const { remove } of folders) remove()
  }
}

async function startWithProject(dataDir: string, entry: string, started: RunningDepot[]): Promise<Server> {
  const server =
    entry === ENTRY
      ? await startBenchDepot(dataDir)
      : await startDepotBy([process.execPath, entry, 'serve'], dataDir, BENCH_ENVIRONMENT)
  started.push(server)
  await createUser(entry, dataDir, 'bench', ['--role', 'admin'])
  const token = await command(entry, dataDir, ['token', 'create', '--user', 'bench', '--scopes', 'all'])
  const [projectId = ''] = await publishProjects(server.url, token.trim(), 1)
  return { server, projectId }
}

function createUser(entry: string, dataDir: string, name: string, more: string[] = []): Promise<string> {
  const email = `${name}@example.org`
  return command(entry, dataDir, [
    ...['user', 'create', '--username', name, '--email', email, '--password', PASSWORD],
    ...more,
  ])
}

async function command(entry: string, dataDir: string, args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [entry, ...args], { env: { ...process.env, DATA_DIR: dataDir } })
  return stdout
}

/** By the processor time of the server, which other work on the machine does not change as it changes throughput. */
async function compare(now: Server, before: Server | undefined, session: string): Promise<Row[]> {
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
    const { server, projectId } = before ?? now
    const api = { path: `/v3/project/${projectId}`, headers: {}, expects: projectId }
    const yardstick = (await cost(server, api)) * (before === undefined ? SHARE_NOW : 1)
    for (const each of cases) {
      const own = await cost(now.server, each)
      costs.set(each, own)
      if (round > 0) ratios.get(each)?.push(yardstick / own)
    }
  }
  return cases.map((each) => {
    const sorted = (ratios.get(each) ?? []).sort((a, b) => a - b)
    const what = `${each.page} for ${each.name}, of the API's project at commit 6d01877`
    const detail = `${costs.get(each)?.toFixed(0)} µs${before === undefined ? ', by a measured factor' : ''}`
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
