// Backup, restore and verify: speed compared with `tar`, memory, and the effect of a backup on readers; also the time to
// create the demo. node bench/backup/backup.ts [PROJECTS [LARGE_FILES]]
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'
import { depot, makeDataDir } from '#test/support/processes/running-depot.ts'
import { call, type Load, load, startBenchDepot } from '../kit/servers.ts'
import { printTable, type Row, row } from '../kit/table.ts'
import { command, type Measured } from './measured-command.ts'
import { benchSpeed } from './speed.ts'

/** A demo catalogue of this size has 36 MB in 14,275 files. */
const PROJECTS = 2_000
/** 2 GB, which have few rows. */
const LARGE_FILES = 500
const LARGE_BYTES = 4 * 1024 * 1024
const DEMO_SECONDS_MAX = 15
/** Maximum time of `verify` for a project with its files. */
const VERIFY_SECONDS_MAX = 0.006
const MEMORY_MB_MAX = 64
const RATIO_MAX = 3
const PASSWORD = 'violet-lighthouse-harbour-19'

export async function benchBackup(projects = PROJECTS, largeFiles = LARGE_FILES): Promise<Row[]> {
  const large = await withFolder((at) =>
    benchSpeed(at, {
      name: `${largeFiles} large files`,
      rounds: 3,
      backupMin: 0.7,
      restoreMin: 0.6,
      fill: (url, dataDir) => publishLarge(url, dataDir, largeFiles),
    }),
  )
  const small = await withFolder(async (at) => {
    const rows = await benchSpeed(at, {
      name: `${projects} projects`,
      rounds: 5,
      backupMin: 0.3,
      restoreMin: 0.2,
      fill: (_, dataDir) => command(dataDir, ['seed', '--projects', String(projects)]),
    })
    return [...rows, ...(await benchMemory(at, projects)), await benchReaders(at), await benchDemo(at, projects)]
  })
  return [...small, ...large]
}

async function withFolder<T>(act: (at: (name: string) => string) => Promise<T>): Promise<T> {
  const { dataDir, remove } = makeDataDir()
  try {
    return await act((name) => join(dataDir, name))
  } finally {
    remove()
  }
}

/** The demo on an empty instance, without a server. */
async function benchDemo(at: (name: string) => string, projects: number): Promise<Row> {
  mkdirSync(at('demo'), { mode: 0o711 })
  const { seconds, processor } = await command(at('demo'), ['seed', '--projects', String(projects)])
  const detail = `${projects} projects; ${processor.toFixed(1)} s of processor`
  return row('demo, seconds', seconds, { atMost: DEMO_SECONDS_MAX * (projects / PROJECTS) }, ' s', detail)
}

async function benchMemory(at: (name: string) => string, projects: number): Promise<Row[]> {
  const idle = await command(at('first'), ['user', 'list'])
  const backup = await command(at('first'), ['backup', at('memory.tar')])
  mkdirSync(at('third'), { mode: 0o711 })
  const restored = await command(at('third'), ['restore', at('memory.tar')])
  rmSync(at('third'), { recursive: true })
  const verified = await command(at('second'), ['verify'])
  const atMost = VERIFY_SECONDS_MAX * projects
  return [
    memory('backup', backup, idle),
    memory('restore', restored, idle),
    memory('verify', verified, idle),
    row('verify, seconds', verified.seconds, { atMost }, ' s', `${projects} projects`),
  ]
}

function memory(what: string, { peakMb }: Measured, idle: Measured): Row {
  const detail = `${peakMb} and ${idle.peakMb} MB`
  return row(`memory of ${what} beyond a small command`, peakMb - idle.peakMb, { atMost: MEMORY_MB_MAX }, ' MB', detail)
}

/** The effect of backups on readers. */
async function benchReaders(at: (name: string) => string): Promise<Row> {
  const server = await startBenchDepot(at('first'))
  try {
    const paths = await mixOf(server.url)
    const port = new URL(server.url).port
    const measure = (): Promise<Load> => load(port, paths, { seconds: 8, connections: 16 })
    await measure()
    const quiet = await measure()
    const during = await besideOf(at('first'), at('again'), measure)
    const detail = `${quiet.p99Ms.toFixed(1)} and ${during.p99Ms.toFixed(1)} ms, ${quiet.perSecond} and ${during.perSecond} a second`
    return row('p99 of reads during backups', during.p99Ms / quiet.p99Ms, { atMost: RATIO_MAX }, ' times', detail)
  } finally {
    await server.stop()
  }
}

async function besideOf(dataDir: string, folder: string, measure: () => Promise<Load>): Promise<Load> {
  mkdirSync(folder)
  let isOver = false
  const backups = (async () => {
    for (let n = 0; !isOver; n += 1) await command(dataDir, ['backup', join(folder, `${n}.tar`)])
  })()
  const measured = await measure()
  isOver = true
  await backups
  return measured
}

async function mixOf(url: string): Promise<string[]> {
  const { hits } = (await (await call(`${url}/v3/search?limit=50`)).json()) as { hits: { slug: string }[] }
  return hits.flatMap(({ slug }) => [`/v3/project/${slug}`, `/v3/project/${slug}/version?limit=10`])
}

async function publishLarge(url: string, dataDir: string, count: number): Promise<void> {
  const account = ['--username', 'bench-author', '--email', 'bench@example.org', '--password', PASSWORD]
  await command(dataDir, ['user', 'create', ...account, '--role', 'admin'])
  const { stdout } = await depot(dataDir, ['token', 'create', '--user', 'bench-author', '--scopes', 'all'])
  const token = stdout.trim()
  const made = await call(`${url}/v3/project`, {
    method: 'POST',
    token,
    body: JSON.stringify(projectData('bench-backup')),
    headers: { 'content-type': 'application/json' },
  })
  const { id } = (await made.json()) as { id: string }
  for (let n = 0; n < count; n += 1) {
    const noise = crypto.getRandomValues(new Uint8Array(65_536))
    const data = Buffer.concat(Array.from({ length: LARGE_BYTES / noise.length }, () => noise))
    const { payload, headers } = await form(versionData({ project_id: id, version_number: `1.0.${n}` }), [
      { name: 'file', bytes: modJar(`large ${n}`, [{ name: 'noise.bin', data }]) },
    ])
    const answer = await call(`${url}/v3/version`, {
      method: 'POST',
      token,
      headers,
      body: new Uint8Array(payload),
    })
    if (answer.status !== 201) throw new Error(`A large file: ${answer.status} ${await answer.text()}`)
  }
}

if (import.meta.main) {
  const [projects = PROJECTS, largeFiles = LARGE_FILES] = process.argv.slice(2).map(Number)
  printTable('Backup, restore, verify', await benchBackup(projects, largeFiles))
}
