// The time and the processor time of a start, of the help, and of an idle server with its database.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ENTRY, makeDataDir } from '#test/support/processes/running-depot.ts'
import { call, descendants, startBenchDepot } from './kit/servers.ts'
import { type Row, row } from './kit/table.ts'

const run = promisify(execFile)
/** Linux reports processor time in ticks of 10 ms. */
const TICKS_PER_SECOND = 100
const HELP_RUNS = 20
/** After a start, the server loads the analytics store and searches for files that belong to nothing. */
const SETTLE_MS = 60_000
const IDLE_MS = 120_000

export async function benchStart(): Promise<Row[]> {
  const { dataDir, remove } = makeDataDir()
  try {
    const first = await startAndStop(dataDir)
    const later = [await startAndStop(dataDir), await startAndStop(dataDir), await startAndStop(dataDir)]
    const median = later.sort((a, b) => a.seconds - b.seconds)[1] ?? first
    const help = await helpSeconds([ENTRY, '--help'])
    const bare = await helpSeconds(['--eval', '0'])
    return [
      row('start to ready, empty data folder', first.seconds, { atMost: 3 }, ' s', processorTime(first)),
      row('start to ready afterwards (median of 3)', median.seconds, { atMost: 1.5 }, ' s', processorTime(median)),
      row('`depot --help`, processor time', help, { atMost: 0.15 }, ' s', `Node.js alone ${bare.toFixed(2)} s`),
      row('idle server with its database', 100 * (await idleShare(dataDir)), { atMost: 1 }, ' % of a core'),
    ]
  } finally {
    remove()
  }
}

type Start = { seconds: number; cpu: number }

const processorTime = ({ cpu }: Start): string => `processor time ${cpu.toFixed(2)} s`

/** Includes the processor time of all programs that the start runs, such as `initdb`. */
async function startAndStop(dataDir: string): Promise<Start> {
  const startedAt = performance.now()
  const server = await startBenchDepot(dataDir)
  await call(`${server.url}/ready`)
  const seconds = (performance.now() - startedAt) / 1000
  const cpu = treeSeconds(server.child.pid ?? 0)
  await server.stop()
  return { seconds, cpu }
}

async function helpSeconds(args: string[]): Promise<number> {
  const before = endedSeconds(process.pid)
  for (let n = 0; n < HELP_RUNS; n += 1) await run(process.execPath, args)
  return (endedSeconds(process.pid) - before) / HELP_RUNS
}

/** The share of one core that an idle server and its database use. */
async function idleShare(dataDir: string): Promise<number> {
  const server = await startBenchDepot(dataDir)
  try {
    await sleep(SETTLE_MS)
    const before = treeSeconds(server.child.pid ?? 0)
    await sleep(IDLE_MS)
    return ((treeSeconds(server.child.pid ?? 0) - before) * 1000) / IDLE_MS
  } finally {
    await server.stop()
  }
}

/** Processor time of a process and of everything that it has started, whether or not that still runs. */
function treeSeconds(pid: number): number {
  return [pid, ...descendants(pid)].reduce((sum, each) => sum + ownSeconds(each) + endedSeconds(each), 0)
}

const ownSeconds = (pid: number): number => fieldsOf(pid).slice(0, 2).reduce(add, 0) / TICKS_PER_SECOND
/** Processor time of the children of a process that have ended. */
const endedSeconds = (pid: number): number => fieldsOf(pid).slice(2).reduce(add, 0) / TICKS_PER_SECOND
const add = (sum: number, each: number): number => sum + each

/** The fields utime, stime, cutime and cstime; zeros for a process that has ended since it was listed. */
function fieldsOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')')).split(' ').slice(12, 16).map(Number)
  } catch {
    return [0, 0, 0, 0]
  }
}
