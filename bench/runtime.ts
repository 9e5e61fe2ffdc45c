// This program on its own Node and on another one, side by side: processor time of a request, memory, times to start.
//
//   OTHER_NODE=PATH node bench/runtime.ts     (the path of another Node's program)
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ENTRY, makeDataDir, type RunningDepot } from '#test/support/processes/running-depot.ts'
import { author, publishProjects } from './http.ts'
import { cpuSeconds, load, residentMb, startBenchDepot } from './kit/servers.ts'
import { figure, printTable, type Row } from './kit/table.ts'

const run = promisify(execFile)
const PROJECTS = 100
const ROUNDS = 7
const SECONDS = 2
const COMMANDS = 9

type Side = { node: string; server: RunningDepot; startedMs: number; ids: string[] }

async function benchRuntime(other: string): Promise<Row[]> {
  const undo = new AsyncDisposableStack()
  try {
    const sides = [await start(undo, process.execPath), await start(undo, other)] as const
    const rows = [figure('start with an empty folder', inMs(sides.map(({ startedMs }) => startedMs)))]
    const paths = ({ ids }: Side): [string, string][] => [
      ['project', '/v3/project/bench-0'],
      ['list of 100 projects', `/v3/projects?ids=${encodeURIComponent(JSON.stringify(ids))}`],
      ['version list', '/v3/project/bench-0/version'],
      ['search', '/v3/search?limit=100'],
      ['page of a project', '/mod/bench-0'],
    ]
    const asked = sides.map(paths)
    for (const [n, [what]] of (asked[0] ?? []).entries()) {
      const costs = await inTurn(async (side) => costMs(sides[side].server, asked[side]?.[n]?.[1] ?? ''))
      rows.push(compared(what, costs))
    }
    rows.push(
      figure('resident memory after that', sides.map(({ server }) => `${residentMb(server.child)} MB`).join(' and ')),
    )
    rows.push(compared('a command: `depot --version`', await inTurn((side) => versionMs(sides[side].node), COMMANDS)))
    return rows
  } finally {
    await undo.disposeAsync()
  }
}

async function start(undo: AsyncDisposableStack, node: string): Promise<Side> {
  const { dataDir, remove } = makeDataDir()
  undo.defer(remove)
  const startedAt = performance.now()
  const server = await startBenchDepot(dataDir, {}, node)
  const startedMs = performance.now() - startedAt
  undo.defer(async () => void (await server.stop()))
  return { node, server, startedMs, ids: await publishProjects(server.url, await author(dataDir), PROJECTS) }
}

/** The medians of rounds in turn, so that a drifting machine slows both alike; the first round warms up. */
async function inTurn(measure: (side: 0 | 1) => Promise<number>, rounds = ROUNDS): Promise<[number, number]> {
  const measured: [number, number][] = []
  for (let round = 0; round <= rounds; round += 1) {
    const pair: [number, number] = [await measure(0), await measure(1)]
    if (round > 0) measured.push(pair)
  }
  const median = (side: 0 | 1) => measured.map((pair) => pair[side]).sort((a, b) => a - b)[rounds >> 1] ?? 0
  return [median(0), median(1)]
}

async function costMs({ url, child }: RunningDepot, path: string): Promise<number> {
  const before = cpuSeconds(child)
  const { requests } = await load(new URL(url).port, [path], { seconds: SECONDS, connections: 8 })
  return ((cpuSeconds(child) - before) / requests) * 1000
}

async function versionMs(node: string): Promise<number> {
  const startedAt = performance.now()
  await run(node, [ENTRY, '--version'])
  return performance.now() - startedAt
}

const inMs = (values: number[]): string => values.map((value) => `${value.toFixed(0)} ms`).join(' and ')

function compared(what: string, [own, other]: [number, number]): Row {
  return figure(what, `${own.toFixed(3)} and ${other.toFixed(3)} ms: ${(other / own).toFixed(2)} times`)
}

const other = process.env['OTHER_NODE']
if (other === undefined) {
  printTable('Another Node', [figure('not measured', "OTHER_NODE must be the path of another Node's program")])
} else {
  const { stdout } = await run(other, ['--version'])
  printTable(`Node ${process.version} and ${stdout.trim()}`, await benchRuntime(other))
}
