// The effect of other load on readers: a mix of reads alone, then with each kind of expensive request, with a thousand
// active connections, and with ten thousand idle connections. Latencies are ratios to the mix alone.
import { connect, type Socket } from 'node:net'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'
import { depot, makeDataDir } from '#test/support/processes/running-depot.ts'
import { call, type Load, load, residentMb, startBenchDepot } from './kit/servers.ts'
import { figure, type Row, row } from './kit/table.ts'

const PROJECTS = 300
const SECONDS = 4
const CONNECTIONS = 16
/** Number of concurrent expensive requests. */
const CONCURRENCY = 4
const MANY = 1_000
const IDLE = 10_000
/** Maximum ratio of the 99th percentile of reads with other load to that without. */
const RATIO_MAX = 5
const PASSWORD = 'violet-lighthouse-harbour-19'

type Neighbour = { name: string; send: (n: number) => Promise<Response> }

export async function benchBeside(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const server = await startBenchDepot(dataDir, { CONNECTIONS_PER_ADDRESS: String(IDLE * 2) })
  try {
    const seeded = await depot(dataDir, ['seed', '--projects', String(PROJECTS)])
    if (seeded.code !== 0) throw new Error(seeded.stderr)
    const port = new URL(server.url).port
    const paths = await mixOf(server.url)
    const measure = (connections = CONNECTIONS): Promise<Load> => load(port, paths, { seconds: SECONDS, connections })
    await measure()
    const alone = await measure()
    const rows = [figure('the mix alone', show(alone))]
    for (const neighbour of await neighboursOf(server.url, dataDir)) {
      const { load: beside, done } = await besideOf(neighbour, measure)
      rows.push(compared(`beside ${neighbour.name} (${done} done)`, beside, alone))
    }
    const many = await measure(MANY)
    // More concurrent readers wait for each other; only the number of responses must not change.
    rows.push(
      row(
        `${MANY} keep-alive connections, answers a second against ${CONNECTIONS}`,
        many.perSecond / alone.perSecond,
        { atLeast: 0.5 },
        ' times',
        show(many),
      ),
    )
    const before = residentMb(server.child)
    const idle = await openIdle(Number(port))
    rows.push(compared(`with ${idle.length} idle connections`, await measure(), alone))
    rows.push(
      figure(
        'memory of an idle connection',
        `${Math.round(((residentMb(server.child) - before) * 1024) / idle.length)} KiB`,
      ),
    )
    for (const socket of idle) socket.destroy()
    return rows
  } finally {
    await server.stop()
    remove()
  }
}

const show = ({ p50Ms, p99Ms, worstMs, perSecond }: Load): string =>
  `p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)}, worst ${worstMs.toFixed(0)} ms, ${perSecond}/s`

function compared(what: string, beside: Load, alone: Load): Row {
  return row(`p99 ${what}`, beside.p99Ms / alone.p99Ms, { atMost: RATIO_MAX }, ' times', show(beside))
}

/** Returns the requests of readers: projects, their versions, lists and searches. */
async function mixOf(url: string): Promise<string[]> {
  const { hits } = (await (await call(`${url}/v3/search?limit=20`)).json()) as { hits: { slug: string }[] }
  const slugs = hits.map(({ slug }) => slug)
  const list = `/v3/projects?ids=${encodeURIComponent(JSON.stringify(slugs))}`
  return [
    ...slugs.flatMap((slug) => [`/v3/project/${slug}`, `/v3/project/${slug}/version?limit=10`]),
    ...slugs.slice(0, 5).map((slug) => `/v3/search?query=${slug.slice(0, 5)}`),
    list,
  ]
}

async function neighboursOf(url: string, dataDir: string): Promise<Neighbour[]> {
  const account = [
    'user',
    'create',
    '--username',
    'bench-author',
    '--email',
    'bench@example.org',
    '--password',
    PASSWORD,
  ]
  await depot(dataDir, [...account, '--role', 'admin'])
  const json = (body: object, token?: string): RequestInit & { token?: string } => ({
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    ...(token === undefined ? {} : { token }),
  })
  const signIn = (username: string) => call(`${url}/_internal/auth/login`, json({ username, password: PASSWORD }))
  const { session } = (await (await signIn('bench-author')).json()) as { session: string }
  const made = await call(`${url}/v3/project`, json(projectData('bench-beside'), session))
  const { id } = (await made.json()) as { id: string }
  const noise = Buffer.alloc(2 * 1024 * 1024, 'noise of the bench ')
  const words = Array.from({ length: 90 }, (_, n) => `w${n}`).join(' ')
  const question = {
    time_range: { start: '2026-01-01T00:00:00Z', end: '2026-06-01T00:00:00Z', resolution: { slices: 100 } },
    return_metrics: { project_views: { bucket_by: ['project_id', 'country'] } },
  }
  return [
    // Unknown usernames take equally long, and lock no account.
    { name: 'sign-ins', send: (n) => signIn(`nobody-${n}`) },
    {
      name: 'uploads',
      send: async (n) => {
        const data = versionData({ project_id: id, version_number: `beside-${n}` })
        const { payload, headers } = await form(data, [
          { name: 'file', bytes: modJar(`beside ${n}`, [{ name: 'noise.bin', data: noise }]) },
        ])
        return call(`${url}/v3/version`, { method: 'POST', token: session, headers, body: new Uint8Array(payload) })
      },
    },
    { name: 'searches for many words', send: () => call(`${url}/v3/search?query=${encodeURIComponent(words)}`) },
    { name: 'analytics queries', send: () => call(`${url}/v3/analytics`, json(question, session)) },
    { name: 'exports', send: () => call(`${url}/_internal/gdpr/export`, json({}, session)) },
  ]
}

async function besideOf(
  { name, send }: Neighbour,
  measure: () => Promise<Load>,
): Promise<{ load: Load; done: number }> {
  let isOver = false
  let sent = 0
  let done = 0
  const statuses = new Set<number>()
  const senders = Array.from({ length: CONCURRENCY }, async () => {
    while (!isOver) {
      sent += 1
      const answer = await send(sent)
      await answer.arrayBuffer()
      statuses.add(answer.status)
      done += 1
    }
  })
  const measured = await measure()
  isOver = true
  await Promise.all(senders)
  if ([...statuses].some((status) => status === 500)) throw new Error(`${name}: ${[...statuses]}`)
  return { load: measured, done }
}

/** Connections that say nothing, from many addresses of loopback. */
async function openIdle(port: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let start = 0; start < IDLE; start += 500) {
    const some = Array.from({ length: 500 }, (_, n) => openOne(port, start + n))
    for (const socket of await Promise.all(some)) if (socket !== undefined) sockets.push(socket)
  }
  return sockets
}

function openOne(port: number, n: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.${1 + (n % 8)}.${1 + ((n >> 3) % 200)}` })
    socket.once('connect', () => resolve(socket))
    // A limit of the machine on open files ends it earlier, which the row shows.
    socket.once('error', () => resolve(undefined))
  })
}
