// Search at size: the embedded index beside MiniSearch and, with DATABASE_URL, PostgreSQL full text, on the same data.
// Alone: node bench/search.ts [--projects 200000] [--growth]
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import MiniSearch, { type SearchResult } from 'minisearch'
import pg from 'pg'
import { startEmbeddedPostgres } from '../src/db/embedded.ts'
import type { SearchDocument } from '../src/search-index/document.ts'
import { openEmbeddedSearchIndex } from '../src/search-index/embedded/embedded-search-index.ts'
import { Engine } from '../src/search-index/embedded/engine.ts'
import { ByteWriter } from '../src/search-index/embedded/hit-store.ts'
import { parseSearchRequest, type SearchRequest } from '../src/search-index/request.ts'
import {
  SAMPLE_CATEGORIES,
  SAMPLE_LOADERS,
  sampleDocuments,
  sampleWords,
} from '../src/search-index/sample-catalogue.ts'
import type { SearchChange, SearchIndex, SearchQuery } from '../src/search-index/search-index.ts'
import { figure, printTable, type Row, row } from './table.ts'

export type SearchBenchOptions = {
  readonly projects: number
  /** A connection string of a database in which a temporary table may be made. */
  readonly databaseUrl?: string
  /** Also the engine alone with a quarter and with four times as many projects. */
  readonly withGrowth: boolean
  readonly print: (line: string) => void
}

const SEED = 1
const VERSIONS = 5
const RUNS = 200
/** Runs of a query on the other engines, whose medians are far above their noise. */
const OTHER_RUNS = 7
const WARM_UP = 5

type Query = {
  readonly name: string
  readonly request: SearchRequest
  readonly sql: string
  readonly values: readonly unknown[]
  readonly mini: MiniQuery
}
type MiniQuery = {
  readonly text: string
  readonly fuzzy?: number
  readonly keep?: (result: SearchResult) => boolean
  readonly offset?: number
  readonly sort?: 'created'
}
type EngineFigures = { readonly times: Map<string, Times>; readonly buildMs: number; readonly update: Times }
type ThreadFigures = {
  readonly restartMs: number
  readonly memoryMib: number
  /** Mixed searches a second. */
  readonly perSecond: number
  /** The 99th percentile of searches while changes come, as a multiple of that without. */
  readonly underUpdates: number
}
type Times = { readonly p50: number; readonly p99: number }

/** Measures everything, prints the table of the queries, and gives what is judged; ends all that it starts. */
export async function benchSearch(options: SearchBenchOptions): Promise<Row[]> {
  const { projects, print } = options
  const queries = mixedQueries()
  print(`search: ${projects} projects, ${VERSIONS} versions each, times in ms`)
  // First, because the memory it reports is that of the whole process.
  const thread = await benchThread(projects, print)
  const engine = await benchEngine(projects, queries, print)
  const mini = benchMiniSearch(projects, queries, print)
  const sql =
    options.databaseUrl === undefined ? undefined : await benchPostgres(options.databaseUrl, projects, queries, print)
  print('query                  p50      p99   MiniSearch  ratio   PostgreSQL  ratio')
  for (const { name } of queries) {
    print(name.padEnd(16) + line(engine.times.get(name), mini.get(name), sql?.get(name)))
  }
  const own = mixed(engine.times)
  print('mixed'.padEnd(16) + line(own, mixed(mini), sql === undefined ? undefined : mixed(sql)))
  for (const size of options.withGrowth ? [projects / 4, projects * 4] : []) {
    const { p50, p99 } = mixed((await benchEngine(size, queries, print)).times)
    print(`growth: ${size} projects: mixed median ${p50.toFixed(3)}, p99 ${p99.toFixed(3)}`)
  }
  return [
    row('search: median, times faster than MiniSearch', mixed(mini).p50 / own.p50, { atLeast: 10 }),
    ...(sql === undefined
      ? []
      : [row('search: median, times faster than PostgreSQL', mixed(sql).p50 / own.p50, { atLeast: 20 })]),
    row('search: worst p99 of a query', own.p99, { atMost: 10 }, ' ms'),
    row('search: build', engine.buildMs / 1000, { atMost: 15 }, ' s'),
    row('search: restart from the snapshot', thread.restartMs / 1000, { atMost: 2 }, ' s'),
    figure('search: mixed searches a second through the thread', thread.perSecond.toFixed(0)),
    row('search: p99 with 100 updates a second and a compaction', thread.underUpdates, { atMost: 2 }, ' times'),
    row('search: update', engine.update.p50, { atMost: 2 }, ' ms'),
    row('search: resident memory after a restart', thread.memoryMib, { atMost: 600 }, ' MiB', 'the whole process'),
  ]
}

/** The mixed set of the specification of this service's speed: counts, sorts, words, beginnings, typos, depth, exclusion. */
function mixedQueries(): Query[] {
  const words = sampleWords(SEED)
  const [common, middling, second] = [words[3] ?? '', words[60] ?? '', words[150] ?? '']
  const long = words.filter((word) => word.length > 8)[9] ?? ''
  const typo = `${long.slice(0, 4)}x${long.slice(5)}`
  const count = 'select count(*) over (), id from bench_search where '
  const byRank = (tsquery: string) =>
    `${count} text @@ ${tsquery} order by ts_rank(text, ${tsquery}) desc, downloads desc limit 10`
  const has = (column: 'categories' | 'loaders', value: string) => (result: SearchResult) =>
    result[column].includes(value)
  const all = MiniSearch.wildcard as unknown as string
  return [
    {
      name: 'facet count',
      request: { new_filters: 'categories=magic' },
      sql: `${count} facets @> $1 order by downloads desc limit 10`,
      values: [['c=magic']],
      mini: { text: all, keep: has('categories', 'magic') },
    },
    {
      name: 'facet and sort',
      request: { new_filters: 'project_types=mod AND loaders=drift', index: 'newest' },
      sql: `${count} facets @> $1 order by created desc limit 10`,
      values: [['t=mod', 'l=drift']],
      mini: { text: all, keep: (r) => r['types'].includes('mod') && r['loaders'].includes('drift'), sort: 'created' },
    },
    {
      name: 'one common word',
      request: { query: common },
      sql: byRank(`to_tsquery('simple', $1)`),
      values: [`${common}:*`],
      mini: { text: common },
    },
    {
      name: 'one word',
      request: { query: middling },
      sql: byRank(`to_tsquery('simple', $1)`),
      values: [`${middling}:*`],
      mini: { text: middling },
    },
    {
      name: 'two words',
      request: { query: `${middling} ${second}` },
      sql: byRank(`to_tsquery('simple', $1)`),
      values: [`${middling}:* & ${second}:*`],
      mini: { text: `${middling} ${second}` },
    },
    {
      name: 'two letters',
      request: { query: common.slice(0, 2) },
      sql: byRank(`to_tsquery('simple', $1)`),
      values: [`${common.slice(0, 2)}:*`],
      mini: { text: common.slice(0, 2) },
    },
    // PostgreSQL's full text knows no typos; it is asked for the word itself, which is the easier question.
    {
      name: 'typo',
      request: { query: typo },
      sql: byRank(`to_tsquery('simple', $1)`),
      values: [`${long}:*`],
      mini: { text: typo, fuzzy: 2 },
    },
    {
      name: 'deep offset',
      request: { offset: 50_000, index: 'newest' },
      sql: `${count} true order by created desc offset 50000 limit 10`,
      values: [],
      mini: { text: all, offset: 50_000, sort: 'created' },
    },
    {
      name: 'exclusion',
      request: { new_filters: 'categories != magic AND loaders != drift' },
      sql: `${count} not facets && $1 order by downloads desc limit 10`,
      values: [['c=magic', 'l=drift']],
      mini: { text: all, keep: (r) => !r['categories'].includes('magic') && !r['loaders'].includes('drift') },
    },
    {
      name: 'word and facets',
      request: { query: middling, new_filters: 'project_types=mod AND loaders=drift' },
      sql: `${count} text @@ to_tsquery('simple', $1) and facets @> $2 order by downloads desc limit 10`,
      values: [`${middling}:*`, ['t=mod', 'l=drift']],
      mini: { text: middling, keep: (r) => r['types'].includes('mod') && r['loaders'].includes('drift') },
    },
  ]
}

function* batches(projects: number, size: number): Generator<SearchDocument[]> {
  let batch: SearchDocument[] = []
  for (const document of sampleDocuments({ seed: SEED, projects, versions: VERSIONS, isSteady: true })) {
    if (batch.push(document) < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

async function benchEngine(
  projects: number,
  queries: readonly Query[],
  print: (line: string) => void,
): Promise<EngineFigures> {
  // Nothing is remembered of the run before: each query is asked as if for the first time.
  const engine = new Engine(undefined, { rememberedFilters: 0 })
  let buildMs = 0
  let processorMs = 0
  const build = async (run: () => void) => {
    const before = process.threadCpuUsage()
    buildMs += await once(run)
    const { user, system } = process.threadCpuUsage(before)
    processorMs += (user + system) / 1000
  }
  for (const documents of batches(projects, 500)) {
    const changes = documents.map((document): SearchChange => ({ kind: 'upsert', sequence: 1, document }))
    await build(() => engine.add(changes))
  }
  await build(() => engine.finish())
  print(`engine: build of ${projects} ${seconds(buildMs)}, of that on the processor ${seconds(processorMs)}`)
  const out = new ByteWriter()
  const times = new Map<string, Times>()
  for (const { name, request } of queries) {
    const query = parseSearchRequest(request)
    const ask = () => engine.search(query, out) + out.take().length
    times.set(name, await time(RUNS, ask))
  }
  const sample = [...sampleDocuments({ seed: SEED + 7, projects: 200, versions: VERSIONS, isSteady: true })]
  let sequence = 1
  const update = async (change: (document: SearchDocument) => SearchDocument) =>
    time(RUNS, (i) => {
      sequence += 1
      const document = sample[i % sample.length]
      if (document !== undefined) engine.apply([{ kind: 'upsert', sequence, document: change(document) }])
    })
  const changed = await update((document) => ({ ...document, summary: `Changed ${sequence}.` }))
  print(`engine: update of a project ${show(changed)}`)
  print(
    `engine: update of its counts ${show(await update((document) => ({ ...document, summary: 'Same.', downloads: sequence })))}`,
  )
  return { times, buildMs, update: changed }
}

/** The adapter as it runs in the service: build through the port, snapshot, restart, memory, searches together. */
async function benchThread(projects: number, print: (line: string) => void): Promise<ThreadFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-search-'))
  const snapshotFile = join(folder, 'snapshot')
  try {
    const first = await openEmbeddedSearchIndex({ snapshotFile })
    const source = async function* () {
      yield* batches(projects, 500)
    }
    const buildMs = await once(() => first.rebuild(async () => ({ sequence: 1, batches: source() })))
    const checkpointMs = await once(() => first.checkpoint())
    await first.close()
    print(`thread: rebuild with the making of the documents ${seconds(buildMs)}, snapshot ${seconds(checkpointMs)}`)
    const { restartMs, memoryMib } = await restartElsewhere(snapshotFile)
    print(`thread: restart from the snapshot ${seconds(restartMs)}, resident memory ${memoryMib.toFixed(0)} MiB`)
    const index = await openEmbeddedSearchIndex({ snapshotFile })
    const perSecond = await benchThroughput(index, print)
    const underUpdates = await benchUnderUpdates(index, projects, print)
    await index.close()
    return { restartMs, memoryMib, perSecond, underUpdates }
  } finally {
    await rm(folder, { recursive: true })
  }
}

type Restart = { readonly restartMs: number; readonly memoryMib: number }

/** Opens the snapshot in a process of its own, which has nothing else in memory. */
async function restartElsewhere(snapshotFile: string): Promise<Restart> {
  const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, '--restart', snapshotFile])
  return JSON.parse(stdout)
}

async function restart(snapshotFile: string): Promise<Restart> {
  const start = performance.now()
  const index = await openEmbeddedSearchIndex({ snapshotFile })
  const restartMs = performance.now() - start
  const { memoryBytes } = await index.status()
  await index.close()
  return { restartMs, memoryMib: memoryBytes / 2 ** 20 }
}

/** The mixed set in 50 variations, 64 searches under way at any time. */
async function benchThroughput(index: SearchIndex, print: (line: string) => void): Promise<number> {
  const queries = Array.from({ length: 50 }, (_, i) => variation(i)).flat()
  const run = async (total: number) => {
    const start = performance.now()
    const lanes = Array.from({ length: 64 }, async (_, lane) => {
      for (let i = lane; i < total; i += 64) await index.search(queries[i % queries.length] as SearchQuery)
    })
    await Promise.all(lanes)
    return (total / (performance.now() - start)) * 1000
  }
  await run(2000)
  const before = process.cpuUsage()
  const perSecond = await run(20_000)
  const { user, system } = process.cpuUsage(before)
  print(
    `thread: ${Math.round(perSecond)} mixed searches a second, ${((user + system) / 20_000).toFixed(0)} µs of processor each, both threads`,
  )
  return perSecond
}

/** The mixed set with other words, categories, loaders and depths. */
function variation(i: number): SearchQuery[] {
  const words = sampleWords(SEED)
  const word = (rank: number) => words[(rank + i * 7) % words.length] ?? ''
  const long = words.filter((each) => each.length > 8)[i] ?? ''
  const category = SAMPLE_CATEGORIES[i % SAMPLE_CATEGORIES.length]
  const loader = SAMPLE_LOADERS[i % SAMPLE_LOADERS.length]
  const requests: SearchRequest[] = [
    { new_filters: `categories=${category}` },
    { new_filters: `project_types=mod AND loaders=${loader}`, index: 'newest' },
    { query: word(3) },
    { query: word(60) },
    { query: `${word(60)} ${word(150)}` },
    { query: word(3).slice(0, 2) },
    { query: `${long.slice(0, 4)}x${long.slice(5)}` },
    { offset: 1000 * i, index: 'newest' },
    { new_filters: `categories != ${category} AND loaders != ${loader}` },
    { query: word(60), new_filters: `project_types=mod AND loaders=${loader}` },
  ]
  return requests.map((request) => parseSearchRequest(request))
}

/** Searches at a steady pace, alone and then while projects change and the index is compacted on the way. */
async function benchUnderUpdates(index: SearchIndex, projects: number, print: (line: string) => void): Promise<number> {
  let sequence = 1
  const changes = (documents: readonly SearchDocument[]) =>
    documents.map((document): SearchChange => {
      sequence += 1
      return { kind: 'upsert', sequence, document: { ...document, summary: `Changed ${sequence}.` } }
    })
  const alone = await pacedSearches(index, () => undefined)
  // Nearly as many dead as make a compaction due.
  let left = Math.floor(Math.max(10_000, projects / 4)) - 100
  for (const documents of batches(projects, 100)) {
    if (left < 100) break
    await index.apply(changes(documents))
    left -= documents.length
  }
  // So many changes at once make it forget its filters.
  await pacedSearches(index, () => undefined)
  const sample = [...sampleDocuments({ seed: SEED, projects: 1000, versions: VERSIONS, isSteady: true })].slice(500)
  const pending: Promise<void>[] = []
  const during = await pacedSearches(index, (i) => {
    // 100 a second.
    if (i % 2 === 0) pending.push(index.apply(changes(sample.slice((i / 2) % 500, ((i / 2) % 500) + 1))))
  })
  await Promise.all(pending)
  print(`thread: paced searches alone ${show(alone)}; with 100 updates a second and a compaction ${show(during)}`)
  return during.p99 / alone.p99
}

/** 200 searches a second for 15 seconds; `onTurn` is called half-way to the next. */
async function pacedSearches(index: SearchIndex, onTurn: (i: number) => void): Promise<Times> {
  const queries = Array.from({ length: 10 }, (_, i) => variation(i)).flat()
  const samples: number[] = []
  const pending: Promise<void>[] = []
  const start = performance.now()
  for (let i = 0; i < 3000; i += 1) {
    await until(start + i * 5)
    const search = async () =>
      void samples.push(await once(() => index.search(queries[i % queries.length] as SearchQuery)))
    pending.push(search())
    await until(start + i * 5 + 2.5)
    onTurn(i)
  }
  await Promise.all(pending)
  return summary(samples)
}

async function until(moment: number): Promise<void> {
  const wait = moment - performance.now()
  if (wait > 0) await setTimeout(wait)
}

function benchMiniSearch(
  projects: number,
  queries: readonly Query[],
  print: (line: string) => void,
): Map<string, Times> {
  const mini = new MiniSearch({
    fields: ['name', 'slug', 'author', 'summary'],
    storeFields: ['categories', 'loaders', 'types', 'downloads', 'created'],
    searchOptions: { prefix: true, combineWith: 'AND', boost: { name: 15, slug: 10, author: 3 } },
  })
  const start = performance.now()
  for (const documents of batches(projects, 2000)) mini.addAll(documents.map(flat))
  print(`MiniSearch: build ${seconds(performance.now() - start)} with the making of the documents`)
  const times = new Map<string, Times>()
  for (const { name, mini: query } of queries)
    times.set(
      name,
      timeNow(OTHER_RUNS, () => askMini(mini, query)),
    )
  return times
}

function askMini(mini: MiniSearch, query: MiniQuery): number {
  const results = mini.search(query.text, {
    ...(query.keep === undefined ? {} : { filter: query.keep }),
    ...(query.fuzzy === undefined ? {} : { fuzzy: query.fuzzy }),
  })
  if (query.sort !== undefined) results.sort((a, b) => b['created'] - a['created'])
  return results.slice(query.offset ?? 0, (query.offset ?? 0) + 10).length
}

function flat(document: SearchDocument): Record<string, unknown> {
  const { id, name, slug, author, summary, downloads } = document
  const list = (of: (version: SearchDocument['versions'][number]) => readonly string[]) => [
    ...new Set(document.versions.flatMap(of)),
  ]
  const loaders = list((version) => version.loaders)
  const types = list((version) => version.project_types)
  const created = Date.parse(document.date_created)
  return {
    id,
    name,
    slug,
    author,
    summary,
    downloads,
    created,
    loaders,
    types,
    categories: [...document.categories, ...loaders],
  }
}

async function benchPostgres(
  url: string,
  projects: number,
  queries: readonly Query[],
  print: (line: string) => void,
): Promise<Map<string, Times>> {
  const client = new pg.Client({ connectionString: url })
  // A lost connection fails the query under way, which says so.
  client.on('error', () => undefined)
  await client.connect()
  try {
    const start = performance.now()
    await client.query(
      'create temporary table bench_search (id text, downloads bigint, created bigint, facets text[], text tsvector)',
    )
    for (const documents of batches(projects, 5000)) await insert(client, documents)
    await client.query('create index on bench_search using gin (text)')
    await client.query('create index on bench_search using gin (facets)')
    await client.query('create index on bench_search (downloads desc)')
    await client.query('create index on bench_search (created desc)')
    await client.query('analyze bench_search')
    print(`PostgreSQL: build ${seconds(performance.now() - start)} with the making of the documents`)
    const times = new Map<string, Times>()
    for (const { name, sql, values } of queries) {
      times.set(name, await time(OTHER_RUNS, () => client.query(sql, [...values])))
    }
    return times
  } finally {
    await client.end()
  }
}

async function insert(client: pg.Client, documents: readonly SearchDocument[]): Promise<void> {
  const rows = documents.map((document) => {
    const { id, downloads, created, loaders, types, categories } = flat(document) as Record<
      string,
      string[] & string & number
    >
    const facets = [
      ...(categories ?? []).map((value) => `c=${value}`),
      ...(loaders ?? []).map((value) => `l=${value}`),
      ...(types ?? []).map((value) => `t=${value}`),
    ]
    return {
      id,
      downloads,
      created,
      facets,
      name: document.name,
      rest: `${document.slug} ${document.author} ${document.summary}`,
    }
  })
  await client.query(
    `insert into bench_search
     select id, downloads, created, facets,
            setweight(to_tsvector('simple', name), 'A') || setweight(to_tsvector('simple', rest), 'D')
     from jsonb_to_recordset($1) as r(id text, downloads bigint, created bigint, facets text[], name text, rest text)`,
    [JSON.stringify(rows)],
  )
}

async function time(runs: number, run: (i: number) => unknown): Promise<Times> {
  const samples: number[] = []
  for (let i = 0; i < WARM_UP; i += 1) await once(() => run(i))
  for (let i = 0; i < runs; i += 1) samples.push(await once(() => run(i)))
  return summary(samples)
}

function timeNow(runs: number, run: () => unknown): Times {
  const samples: number[] = []
  for (let i = 0; i < runs; i += 1) {
    const start = performance.now()
    run()
    samples.push(performance.now() - start)
  }
  return summary(samples)
}

async function once(run: () => unknown): Promise<number> {
  const start = performance.now()
  const result = run()
  if (result instanceof Promise) await result
  return performance.now() - start
}

function summary(samples: number[]): Times {
  samples.sort((a, b) => a - b)
  const at = (share: number) => samples[Math.min(samples.length - 1, Math.floor(samples.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99) }
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

function show({ p50, p99 }: Times): string {
  return `median ${p50.toFixed(3)}, p99 ${p99.toFixed(3)}`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      projects: { type: 'string', default: '200000' },
      growth: { type: 'boolean', default: false },
      // What the benchmark starts in a process of its own.
      restart: { type: 'string' },
    },
  })
  const run = async (databaseUrl: string) => {
    const options = { projects: Number(values.projects), withGrowth: values.growth, databaseUrl }
    printTable('Search', await benchSearch({ ...options, print: (line) => console.log(line) }))
  }
  const { DATABASE_URL } = process.env
  if (values.restart !== undefined) console.log(JSON.stringify(await restart(values.restart)))
  else await (DATABASE_URL === undefined ? withEmbeddedPostgres(run) : run(DATABASE_URL))
}

/** A database of its own in a folder that goes with it. */
async function withEmbeddedPostgres(run: (databaseUrl: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-search-'))
  const quiet = () => undefined
  const log = { debug: quiet, info: quiet, warn: console.error, error: console.error }
  const postgres = await startEmbeddedPostgres({ dataDir, holder: 'command', log })
  try {
    await run(postgres.connectionString)
  } finally {
    await postgres.stop()
    await rm(dataDir, { recursive: true })
  }
}
