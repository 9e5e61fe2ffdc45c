// Pages for publishers, moderators and operators on a large instance: processor time of a request with its database,
// number of statements, size of the document; and the size of script and style.
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync } from 'node:zlib'
import { makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { loadAssets } from '#web/ui/assets.ts'
import { call, countQueries, cpuSeconds, cpuSecondsOfAll, signIn, startBenchDepot } from '../kit/servers.ts'
import { printTable, type Row, row } from '../kit/table.ts'
import { type Instance, makeInstance, PEOPLE } from './instance.ts'

const WARM_UP = 8
/** The median of the rounds counts. */
const ROUNDS = 5
const REQUESTS = 4
const KB = 1024
const CPU_MS_MAX = 50
const DOCUMENT_KB_MAX = 12
/** Processor time of an idle server, as a share of a core. */
const IDLE = 0.03
const IDLE_TRIES = 120

export async function benchWork(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const server = await startBenchDepot(dataDir)
  try {
    const instance = await makeInstance(server, dataDir)
    await untilIdle(server)
    const cookies = {
      publisher: await signIn(server.url, PEOPLE.publisher),
      admin: await signIn(server.url, PEOPLE.admin),
    }
    const rows: Row[] = []
    for (const [who, paths] of Object.entries(pagesOf(instance)))
      for (const path of paths) {
        const measured = await measurePage(server, path, who === 'publisher' ? cookies.publisher : cookies.admin)
        for (const { what, measured: text } of measured) console.error(`${what}: ${text}`)
        rows.push(...measured)
      }
    return [...rows, ...(await weigh())]
  } finally {
    await server.stop()
    remove()
  }
}

/** Every page with data that grows with the instance. */
function pagesOf({ project, versionId, waiting, reportId, userId }: Instance): Record<'publisher' | 'admin', string[]> {
  const settings = `${project}/settings`
  const below = (path: string, names: readonly string[]) => names.map((name) => `${path}/${name}`)
  return {
    publisher: [
      '/dashboard',
      '/dashboard?of=own',
      ...below('/dashboard', [
        'projects',
        'projects?page=10&sort=name',
        'uploads',
        'publish',
        'notifications',
        'analytics',
      ]),
      ...below('/dashboard', [
        'revenue',
        'revenue/history',
        'affiliates',
        'organizations',
        'collections',
        'follows',
        'reports',
      ]),
      ...below('/new', ['project', 'organization', 'collection']),
      settings,
      ...below(settings, [
        'description',
        'tags',
        'links',
        'gallery',
        'versions',
        'versions?page=40',
        'members',
        'organization',
      ]),
      ...below(settings, ['analytics', 'revenue', 'visibility', 'review', 'transfer', 'delete']),
      `${project}/versions/new`,
      `${project}/version/${versionId}/edit`,
    ],
    admin: [
      '/moderation',
      ...below('/moderation', [
        'queue',
        'queue?page=200',
        'queue?query=project',
        'queue?scan=quarantine',
        `project/${waiting}`,
      ]),
      ...below('/moderation', ['reports', `reports/${reportId}`, 'scans', 'threads', `user/${userId}`, 'texts', 'log']),
      ...below('/moderation', ['statistics', `takedown?kind=project&id=${waiting}`]),
      '/operator',
      ...below('/operator', [
        'jobs',
        'storage',
        'index',
        'mail',
        'backups',
        'users',
        'users?q=author',
        `user/${userId}`,
      ]),
      ...below('/operator', [
        'invitations',
        'limits',
        'payouts',
        'tags',
        'keys',
        'settings',
        'announcement',
        'read-only',
      ]),
      ...below('/operator', ['audit-log', 'audit-log?action=project.created', 'first-steps', 'errors']),
    ],
  }
}

/** The search index reads the new projects, and the counters are written, before the first page is measured. */
async function untilIdle({ child }: RunningDepot): Promise<void> {
  for (let tries = 0, calm = 0; tries < IDLE_TRIES && calm < 3; tries += 1) {
    const before = cpuSecondsOfAll(child)
    await sleep(1000)
    calm = cpuSecondsOfAll(child) - before < IDLE ? calm + 1 : 0
  }
}

async function measurePage(server: RunningDepot, path: string, cookie: string): Promise<Row[]> {
  const { url, child } = server
  const open = async (): Promise<Buffer> => {
    const answer = await call(`${url}${path}`, { headers: { cookie, accept: 'text/html' } })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
    return bytes
  }
  for (let n = 0; n < WARM_UP; n += 1) await open()
  const rounds: { all: number; own: number }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const [all, own] = [cpuSecondsOfAll(child), cpuSeconds(child)]
    for (let n = 0; n < REQUESTS; n += 1) await open()
    const ms = 1000 / REQUESTS
    rounds.push({ all: (cpuSecondsOfAll(child) - all) * ms, own: (cpuSeconds(child) - own) * ms })
  }
  const middle = rounds.sort((a, b) => a.all - b.all)[Math.floor(ROUNDS / 2)] ?? { all: 0, own: 0 }
  const document = brotliCompressSync(await open()).length / KB
  const detail = `${(middle.all - middle.own).toFixed(1)} ms of it in the database, ${await statements(url, open)} statements, ${document.toFixed(1)} KB`
  return [
    row(path.replace(/p-[a-z0-9]{8}-[a-z0-9]{8}/, 'SLUG'), middle.all, { atMost: CPU_MS_MAX }, ' ms', detail),
    ...(document > DOCUMENT_KB_MAX ? [row(`${path}, compressed`, document, { atMost: DOCUMENT_KB_MAX }, ' KB')] : []),
  ]
}

/** The fewest of several requests, because jobs run statements too. */
async function statements(url: string, open: () => Promise<Buffer>): Promise<number> {
  const counts: number[] = []
  for (let n = 0; n < REQUESTS; n += 1) {
    const before = await countQueries(url)
    await open()
    counts.push((await countQueries(url)) - before)
  }
  return Math.min(...counts)
}

async function weigh(): Promise<Row[]> {
  const assets = loadAssets()
  const kb = async (name: 'work.js' | 'work.css'): Promise<number> =>
    ((await assets.get(name)?.encode?.('br')) ?? []).length / KB
  return [
    row('script of these pages, compressed', await kb('work.js'), { atMost: 12 }, ' KB'),
    row('style of these pages, compressed', await kb('work.css'), { atMost: 7.5 }, ' KB'),
  ]
}

if (import.meta.main) printTable('Pages for publishers, moderators and operators', await benchWork())
