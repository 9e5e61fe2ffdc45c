// Backup, restore and verify compared with `tar` of the same files: speed, memory, and the effect of a backup on
// readers; also the time to create the demo. A demo catalogue has many small files, so some large ones are added. node
// bench/backup.ts [PROJECTS]
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'
import { depot, ENTRY, makeDataDir } from '#test/support/processes/running-depot.ts'
import { call, type Load, load, peakMb, startBenchDepot } from './kit/servers.ts'
import { figure, printTable, type Row, row } from './kit/table.ts'

const run = promisify(execFile)
const PROJECTS = 20_000
const LARGE_FILES = 32
const LARGE_BYTES = 8 * 1024 * 1024
/** Maximum time to create a demo with this number of projects. */
const DEMO = { projects: 2_000, secondsMax: 15 }
/** Maximum time of `verify` for the projects of the benchmark with their files. */
const VERIFY_SECONDS_MAX = 120
const SPEED_MIN = 0.5
const MEMORY_MB_MAX = 64
const RATIO_MAX = 3
const PASSWORD = 'violet-lighthouse-harbour-19'
const POLL_MS = 20

/** `processor`: seconds of processor time, without PostgreSQL if a server is running. */
type Measured = { seconds: number; processor: number; peakMb: number; stdout: string }

export async function benchBackup(projects = PROJECTS): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  const at = (name: string): string => join(dataDir, name)
  mkdirSync(at('first'), { mode: 0o711 })
  const archive = at('depot.tar')
  try {
    const rows: Row[] = [await benchDemo(at('demo'))]
    const server = await startBenchDepot(at('first'))
    try {
      await command(at('first'), ['seed', '--projects', String(projects)])
      await publishLarge(server.url, at('first'))
      const idle = await command(at('first'), ['token', 'list', '--user', 'bench-author'])
      const bytes = sizeOf(at('first/files'))
      const packed = await timed('tar', ['-cf', at('files.tar'), '-C', at('first'), 'files'], at('files.tar'))
      const whole = await timed('tar', ['-cf', at('whole.tar'), '-C', at('first'), '.'], at('whole.tar'), [1])
      rmSync(at('whole.tar'))
      const made = await command(at('first'), ['backup', archive])
      rows.push(
        figure('files', `${Math.round(bytes / 2 ** 20)} MB of ${projects} projects and ${LARGE_FILES} large files`),
        speed('backup', { bytes: statSync(archive).size, seconds: made.seconds }, { bytes, seconds: packed }),
        figure(
          'tar of the whole data folder in the time of a backup',
          `${(whole / made.seconds).toFixed(2)} times; ${whole.toFixed(1)} and ${made.seconds.toFixed(1)} s, ${made.processor.toFixed(1)} s of processor`,
        ),
        memory('backup', made, idle),
      )
      const paths = await mixOf(server.url)
      const port = new URL(server.url).port
      const measure = (): Promise<Load> => load(port, paths, { seconds: 8, connections: 16 })
      await measure()
      const quiet = await measure()
      const beside = await besideOf(at('first'), at('again'), measure)
      rows.push(
        row(
          'p99 of reads during backups',
          beside.p99Ms / quiet.p99Ms,
          { atMost: RATIO_MAX },
          ' times',
          `${quiet.p99Ms.toFixed(1)} and ${beside.p99Ms.toFixed(1)} ms, ${quiet.perSecond} and ${beside.perSecond} a second`,
        ),
      )
      rows.push(...(await benchRestore({ at, archive, bytes, idle })))
    } finally {
      await server.stop()
    }
    const verified = await command(at('second'), ['verify'])
    const share = projects / PROJECTS
    rows.push(
      row('verify, seconds', verified.seconds, { atMost: VERIFY_SECONDS_MAX * share }, ' s', `${projects} projects`),
      memory('verify', verified, { seconds: 0, processor: 0, stdout: '', peakMb: await idlePeak(at('second')) }),
    )
    return rows
  } finally {
    remove()
  }
}

/** The demo on an empty instance, without a server. */
async function benchDemo(dataDir: string): Promise<Row> {
  mkdirSync(dataDir, { mode: 0o711 })
  const { seconds, processor } = await command(dataDir, ['seed', '--projects', String(DEMO.projects)])
  rmSync(dataDir, { recursive: true })
  const detail = `${DEMO.projects} projects; ${processor.toFixed(1)} s of processor`
  return row('demo, seconds', seconds, { atMost: DEMO.secondsMax }, ' s', detail)
}

type RestoreNeeds = { at: (name: string) => string; archive: string; bytes: number; idle: Measured }

async function benchRestore({ at, archive, bytes, idle }: RestoreNeeds): Promise<Row[]> {
  mkdirSync(at('unpacked'))
  const unpacked = await timed('tar', ['-xf', at('files.tar'), '-C', at('unpacked')], at('unpacked'))
  mkdirSync(at('second'), { mode: 0o711 })
  const restored = await command(at('second'), ['restore', archive])
  return [
    speed('restore', { bytes: statSync(archive).size, seconds: restored.seconds }, { bytes, seconds: unpacked }),
    memory('restore', restored, idle),
  ]
}

function speed(what: string, own: { bytes: number; seconds: number }, of: { bytes: number; seconds: number }): Row {
  const perSecond = ({ bytes, seconds }: { bytes: number; seconds: number }) => bytes / 2 ** 20 / seconds
  const detail = `${perSecond(own).toFixed(0)} and ${perSecond(of).toFixed(0)} MB/s; ${own.seconds.toFixed(1)} and ${of.seconds.toFixed(1)} s`
  return row(`speed of ${what} against tar`, perSecond(own) / perSecond(of), { atLeast: SPEED_MIN }, ' times', detail)
}

function memory(what: string, { peakMb }: Measured, idle: Measured): Row {
  const detail = `${peakMb} and ${idle.peakMb} MB`
  return row(`memory of ${what} beyond a small command`, peakMb - idle.peakMb, { atMost: MEMORY_MB_MAX }, ' MB', detail)
}

const idlePeak = async (dataDir: string): Promise<number> => (await command(dataDir, ['user', 'list'])).peakMb

/** Runs a command of Depot: how long it took, and the most memory it had. */
async function command(dataDir: string, words: string[]): Promise<Measured> {
  const startedAt = performance.now()
  const child: ChildProcess = spawn(process.execPath, [ENTRY, ...words], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  let peak = 0
  let processor = 0
  const poll = setInterval(() => {
    try {
      peak = Math.max(peak, peakMb(child))
      processor = processorSeconds(child)
    } catch {
      // It has ended.
    }
  }, POLL_MS)
  const code = await new Promise((resolve) => child.on('close', resolve))
  clearInterval(poll)
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr.slice(-2000)}`)
  return { seconds: (performance.now() - startedAt) / 1000, processor, peakMb: peak, stdout }
}

/** Ticks of the processor in a second, as Linux counts them for programs. */
const TICKS = 100

/** Seconds of processor time of a process and of those that it has started and waited for. */
function processorSeconds({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS
}

/** Seconds until a program is done and what it wrote is on disk, as Depot's own archives and files are. */
async function timed(program: string, words: string[], written: string, allowed: number[] = []): Promise<number> {
  const startedAt = performance.now()
  await run(program, words).catch((error) => {
    if (!allowed.includes(error.code)) throw error
  })
  await run('sync', ['-f', written])
  return (performance.now() - startedAt) / 1000
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

async function publishLarge(url: string, dataDir: string): Promise<void> {
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
  for (let n = 0; n < LARGE_FILES; n += 1) {
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

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

if (import.meta.main) printTable('Backup, restore, verify', await benchBackup(Number(process.argv[2] ?? PROJECTS)))
