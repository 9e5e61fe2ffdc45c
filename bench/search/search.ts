// Search at size: compares the embedded index with MiniSearch and PostgreSQL full text on the same data. node
// bench/search/search.ts [--projects 200000] [--seconds 60] [--growth]
import { parseArgs } from 'node:util'
import { figure, printTable, type Row, row } from '../kit/table.ts'
import { show, summary, type Times, time } from '../kit/timing.ts'
import { benchEngine } from './engine.ts'
import { benchMiniSearch } from './minisearch.ts'
import { benchPostgres } from './postgres.ts'
import { mixedQueries, VERSIONS } from './queries.ts'
import { benchThread } from './thread.ts'

type SearchBenchOptions = {
  readonly projects: number
  /** Duration of the measurement of searches while projects change. */
  readonly seconds: number
  /** Also the engine alone with a quarter and with four times as many projects. */
  readonly withGrowth: boolean
}

const { values: flags } = parseArgs({
  options: {
    projects: { type: 'string', default: '200000' },
    seconds: { type: 'string', default: '60' },
    growth: { type: 'boolean', default: false },
  },
})
printTable(
  'Search',
  await benchSearch({
    projects: Number(flags.projects),
    seconds: Number(flags.seconds),
    withGrowth: flags.growth,
  }),
)

/**
 * Measures everything, prints the table of the queries and returns the rows with targets; stops every process that it
 * starts.
 */
async function benchSearch({ projects, seconds, withGrowth }: SearchBenchOptions): Promise<Row[]> {
  const print = (line: string) => console.log(line)
  const queries = mixedQueries()
  print(`search: ${projects} projects, ${VERSIONS} versions each, times in ms`)
  print(`machine: a loop that always does the same ${show(await time(1000, spin))}; what it varies is not the engine's`)
  const thread = await benchThread(projects, seconds, print)
  const engine = await benchEngine(projects, queries, print)
  const mini = await benchMiniSearch(projects, queries, print)
  const sql = await benchPostgres(projects, queries, print)
  print('query                  p50      p99   MiniSearch  ratio   PostgreSQL  ratio')
  for (const { name } of queries) {
    print(name.padEnd(16) + line(engine.times.get(name), mini.get(name), sql.get(name)))
  }
  const own = mixed(engine.times)
  print('mixed'.padEnd(16) + line(own, mixed(mini), mixed(sql)))
  for (const size of withGrowth ? [projects / 4, projects * 4] : []) {
    const { p50, p99 } = mixed((await benchEngine(size, queries, print)).times)
    print(`growth: ${size} projects: mixed median ${p50.toFixed(3)}, p99 ${p99.toFixed(3)}`)
  }
  const { restartMs, emptyMib, memoryMib, perSecond, underUpdates } = thread
  return [
    row('search: median, times faster than MiniSearch', mixed(mini).p50 / own.p50, { atLeast: 10 }),
    row('search: median, times faster than PostgreSQL', mixed(sql).p50 / own.p50, { atLeast: 20 }),
    row('search: worst p99 of a query', own.p99, { atMost: 10 }, ' ms'),
    row(
      'search: build',
      engine.buildMs / 1000,
      { atMost: 15 },
      ' s',
      `of that ${(engine.buildProcessorMs / 1000).toFixed(1)} s on the processor`,
    ),
    row('search: restart from the snapshot', restartMs / 1000, { atMost: 2 }, ' s'),
    figure('search: mixed searches a second through the thread', perSecond.toFixed(0)),
    row(`search: p99 with 100 updates a second for ${seconds} s`, underUpdates, { atMost: 2 }, ' times'),
    row('search: update', engine.update.p50, { atMost: 2 }, ' ms'),
    row('search: longest step of a compaction', engine.longestStepMs, { atMost: 10 }, ' ms'),
    row(
      'search: resident memory after a restart',
      memoryMib,
      { atMost: 600 },
      ' MiB',
      `the whole process; ${emptyMib.toFixed(0)} with an empty index`,
    ),
  ]
}

/** About as long as a query. */
function spin(): number {
  let sum = 0
  for (let i = 0; i < 300_000; i += 1) sum += i % 7
  return sum
}

/** The median of the queries' medians, and the worst 99th percentile. */
function mixed(times: ReadonlyMap<string, Times>): Times {
  const { p50 } = summary([...times.values()].map((each) => each.p50))
  return { p50, p99: Math.max(...[...times.values()].map((each) => each.p99)) }
}

function line(own: Times | undefined, mini: Times | undefined, sql: Times | undefined): string {
  const other = (times: Times | undefined) =>
    times === undefined || own === undefined
      ? ''
      : `${times.p50.toFixed(2).padStart(12)} ${`${Math.round(times.p50 / own.p50)}x`.padStart(6)}`
  return `${(own?.p50 ?? 0).toFixed(3).padStart(9)}${(own?.p99 ?? 0).toFixed(3).padStart(9)} ${other(mini)} ${other(sql)}`
}
