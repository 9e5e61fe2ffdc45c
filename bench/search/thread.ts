// The index as it runs in the service: in its thread, behind the port. Building, snapshot, restart, memory, throughput,
// and searches while projects change.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { SearchDocument } from '#ports/search-index/document.ts'
import { openEmbeddedSearchIndex } from '#ports/search-index/embedded/embedded-search-index.ts'
import type { SearchChange, SearchIndex, SearchQuery } from '#ports/search-index/search-index.ts'
import { sampleDocuments } from '#test/support/factories/search-catalogue.ts'
import { once, seconds, show, summary, type Times } from '../kit/timing.ts'
import { batches, SEED, VERSIONS, variation } from './queries.ts'

const SEARCHES_PER_SECOND = 200
const UPDATES_PER_SECOND = 100

export type Restart = { readonly restartMs: number; readonly emptyMib: number; readonly memoryMib: number }
export type ThreadFigures = Restart & {
  /** Mixed searches a second. */
  readonly perSecond: number
  /** The 99th percentile of searches while changes come, as a multiple of that without. */
  readonly underUpdates: number
}

/** `updateSeconds`: how long changes come. */
export async function benchThread(
  projects: number,
  updateSeconds: number,
  print: (line: string) => void,
): Promise<ThreadFigures> {
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
    const restarted = await restartElsewhere(snapshotFile)
    const { restartMs, emptyMib, memoryMib } = restarted
    print(
      `thread: restart from the snapshot ${seconds(restartMs)}, resident memory ${memoryMib.toFixed(0)} MiB ` +
        `(with an empty index ${emptyMib.toFixed(0)})`,
    )
    const index = await openEmbeddedSearchIndex({ snapshotFile })
    const perSecond = await benchThroughput(index, print)
    const underUpdates = await benchUnderUpdates(index, projects, updateSeconds, print)
    await index.close()
    return { ...restarted, perSecond, underUpdates }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Opens the snapshot in a separate process, which has nothing else in memory. */
async function restartElsewhere(snapshotFile: string): Promise<Restart> {
  const program = join(import.meta.dirname, 'restart.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [program, snapshotFile])
  return JSON.parse(stdout)
}

/** Runs the mixed set in 50 variations, with 64 concurrent searches. */
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
  const each = ((user + system) / 20_000).toFixed(0)
  print(`thread: ${Math.round(perSecond)} mixed searches a second, ${each} µs of processor each, both threads`)
  return perSecond
}

/** Searches at a steady pace, alone and then while projects change and the index is compacted on the way. */
async function benchUnderUpdates(
  index: SearchIndex,
  projects: number,
  updateSeconds: number,
  print: (line: string) => void,
): Promise<number> {
  let sequence = 1
  const changes = (documents: readonly SearchDocument[]) =>
    documents.map((document): SearchChange => {
      sequence += 1
      return { kind: 'upsert', sequence, document: { ...document, summary: `Changed ${sequence}.` } }
    })
  const alone = await pacedSearches(index, updateSeconds / 2, () => undefined)
  // Nearly as many dead as make a compaction due.
  let left = Math.floor(Math.max(10_000, projects / 4)) - 100
  for (const documents of batches(projects, 100, Math.ceil(10_000 / projects))) {
    if (left < 100) break
    await index.apply(changes(documents))
    left -= documents.length
  }
  // This number of changes invalidates all cached filters.
  await pacedSearches(index, 5, () => undefined)
  const sample = [...sampleDocuments({ seed: SEED, projects: 1000, versions: VERSIONS, isSteady: true })].slice(500)
  const pending: Promise<void>[] = []
  const every = SEARCHES_PER_SECOND / UPDATES_PER_SECOND
  const during = await pacedSearches(index, updateSeconds, (i) => {
    const n = (i / every) % sample.length
    if (i % every === 0) pending.push(index.apply(changes(sample.slice(n, n + 1))))
  })
  await Promise.all(pending)
  print(`thread: paced searches alone ${show(alone)}, at most ${alone.longest.toFixed(1)}`)
  print(
    `thread: with ${UPDATES_PER_SECOND} updates a second for ${updateSeconds} s and a compaction ${show(during)}, ` +
      `at most ${during.longest.toFixed(1)}`,
  )
  return during.p99 / alone.p99
}

/** `onTurn` is called half-way to the next search. */
async function pacedSearches(
  index: SearchIndex,
  forSeconds: number,
  onTurn: (i: number) => void,
): Promise<Times & { longest: number }> {
  const queries = Array.from({ length: 10 }, (_, i) => variation(i)).flat()
  const paceMs = 1000 / SEARCHES_PER_SECOND
  const samples: number[] = []
  const pending: Promise<void>[] = []
  const start = performance.now()
  for (let i = 0; i < forSeconds * SEARCHES_PER_SECOND; i += 1) {
    await until(start + i * paceMs)
    const search = async () =>
      void samples.push(await once(() => index.search(queries[i % queries.length] as SearchQuery)))
    pending.push(search())
    await until(start + (i + 0.5) * paceMs)
    onTurn(i)
  }
  await Promise.all(pending)
  return { ...summary(samples), longest: Math.max(...samples) }
}

async function until(moment: number): Promise<void> {
  const wait = moment - performance.now()
  if (wait > 0) await setTimeout(wait)
}
