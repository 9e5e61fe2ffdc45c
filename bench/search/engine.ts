// The engine alone, in this thread: building, queries, updates, compaction.

import { parseSearchRequest } from '#features/operations/search/requests.ts'
import type { SearchDocument } from '#ports/search-index/document.ts'
import { Engine } from '#ports/search-index/embedded/engine.ts'
import { ByteWriter } from '#ports/search-index/embedded/parts/hit-store.ts'
import { prepareChange } from '#ports/search-index/embedded/prepare.ts'
import type { SearchChange } from '#ports/search-index/search-index.ts'
import { sampleDocuments } from '#test/support/factories/search-catalogue.ts'
import { once, seconds, show, type Times, time } from '../kit/timing.ts'
import { batches, type Query, SEED, VERSIONS } from './queries.ts'

const RUNS = 200

export type EngineFigures = {
  readonly times: Map<string, Times>
  /** Without the making of the documents. */
  readonly buildMs: number
  /** Less than `buildMs` where other programs want the processor too. */
  readonly buildProcessorMs: number
  readonly update: Times
  /** The longest step of a compaction: what a search can wait for it. */
  readonly longestStepMs: number
}

export async function benchEngine(
  projects: number,
  queries: readonly Query[],
  print: (line: string) => void,
): Promise<EngineFigures> {
  // Without cached filters, each query runs as if for the first time.
  const engine = new Engine(undefined, { cachedFilters: 0 })
  const built = await build(engine, projects, print)
  const out = new ByteWriter()
  const times = new Map<string, Times>()
  for (const { name, request } of queries) {
    const query = parseSearchRequest(request)
    times.set(name, await time(RUNS, () => engine.search(query, out) + out.take().length))
  }
  const update = await benchUpdates(engine, print)
  return { times, ...built, update, longestStepMs: compact(engine, projects, print) }
}

async function build(
  engine: Engine,
  projects: number,
  print: (line: string) => void,
): Promise<Pick<EngineFigures, 'buildMs' | 'buildProcessorMs'>> {
  let buildMs = 0
  let buildProcessorMs = 0
  const timed = async (run: () => void) => {
    const before = process.threadCpuUsage()
    buildMs += await once(run)
    const { user, system } = process.threadCpuUsage(before)
    buildProcessorMs += (user + system) / 1000
  }
  for (const documents of batches(projects, 500)) {
    const changes = documents.map((document): SearchChange => ({ kind: 'upsert', sequence: 1, document }))
    await timed(() => engine.add(changes.map(prepareChange)))
  }
  await timed(() => engine.finish())
  print(`engine: build of ${projects} ${seconds(buildMs)}, of that on the processor ${seconds(buildProcessorMs)}`)
  return { buildMs, buildProcessorMs }
}

async function benchUpdates(engine: Engine, print: (line: string) => void): Promise<Times> {
  const sample = [...sampleDocuments({ seed: SEED + 7, projects: 200, versions: VERSIONS, isSteady: true })]
  const update = (change: (document: SearchDocument, sequence: number) => SearchDocument) =>
    time(RUNS, (i) => {
      const sequence = engine.sequence + 1
      const document = sample[i % sample.length]
      if (document !== undefined)
        engine.apply([prepareChange({ kind: 'upsert', sequence, document: change(document, sequence) })])
    })
  const changed = await update((document, sequence) => ({ ...document, summary: `Changed ${sequence}.` }))
  const counted = await update((document, sequence) => ({ ...document, summary: 'Same.', downloads: sequence }))
  print(`engine: update of a project ${show(changed)}; of its counts ${show(counted)}`)
  return changed
}

/** Changes a quarter of the projects, then compacts; gives the longest step. */
function compact(engine: Engine, projects: number, print: (line: string) => void): number {
  const rounds = Math.ceil(10_000 / projects)
  let left = Math.max(10_000, Math.ceil(projects / 4))
  for (const documents of batches(projects, 500, rounds)) {
    if (left <= 0) break
    const changes = documents.map((document): SearchChange => {
      const sequence = engine.sequence + 1
      return { kind: 'upsert', sequence, document: { ...document, summary: `Changed ${sequence}.` } }
    })
    engine.apply(changes.map(prepareChange))
    left -= documents.length
  }
  const slots = engine.slots
  let steps = 0
  let sum = 0
  let longest = 0
  for (let isMore = true; isMore; steps += 1) {
    const start = performance.now()
    isMore = engine.tidy()
    const took = performance.now() - start
    sum += took
    longest = Math.max(longest, took)
  }
  if (engine.slots >= slots) throw new Error('Nothing was compacted')
  print(`engine: compaction ${seconds(sum)} in ${steps} steps, the longest ${longest.toFixed(1)} ms`)
  return longest
}
