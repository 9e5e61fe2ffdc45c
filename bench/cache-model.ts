// A model, not a measurement: how often processes find a project in their own cache when many of them share the reads of
// a catalogue that no machine here could hold. Popularity follows Zipf's law; each change, of any project alike, drops it everywhere.
//
//   node bench/cache-model.ts [--projects 1000000] [--processes 20] [--reads 50000] [--writes 1000]
import { parseArgs } from 'node:util'
import { LRUCache } from 'lru-cache'
import { figure, printTable, type Row } from './kit/table.ts'

type Model = { projects: number; processes: number; readsPerSecond: number; writesPerSecond: number }

/**
 * Default cache size of a process, and the size of a cached project: its view, compressed once, with its cache entry.
 */
const CACHE_BYTES = 128 * 1024 * 1024
const PROJECT_BYTES = 4_000
const WARM_SECONDS = 30
const COUNTED_SECONDS = 10

export function modelCaches(model: Model): { hitShare: number; loadsPerSecond: number } {
  const { projects, processes, readsPerSecond, writesPerSecond } = model
  const max = Math.floor(CACHE_BYTES / PROJECT_BYTES)
  const caches = Array.from({ length: processes }, () => new LRUCache<number, true>({ max }))
  const random = createRandom(1)
  const pick = zipf(projects, random)
  let hits = 0
  let reads = 0
  for (let second = 0; second < WARM_SECONDS + COUNTED_SECONDS; second += 1) {
    let due = 0
    for (let i = 0; i < readsPerSecond; i += 1) {
      for (due += writesPerSecond / readsPerSecond; due >= 1; due -= 1) {
        const changed = Math.floor(random() * projects)
        for (const cache of caches) cache.delete(changed)
      }
      const cache = caches[Math.floor(random() * processes)]
      const project = pick()
      const isHit = cache?.get(project) !== undefined
      if (!isHit) cache?.set(project, true)
      if (second < WARM_SECONDS) continue
      reads += 1
      if (isHit) hits += 1
    }
  }
  return { hitShare: hits / reads, loadsPerSecond: ((reads - hits) / reads) * readsPerSecond }
}

/** Returns ranks from 0. The nth rank occurs 1/n as often as the first; uses the inverse of the harmonic sum. */
function zipf(count: number, random: () => number): () => number {
  const sum = Math.log(count) + Math.LN2
  return () => Math.min(count - 1, Math.floor(Math.exp(random() * sum - Math.LN2)))
}

/** The same numbers in each run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function modelRows(): Row[] {
  const { values } = parseArgs({
    options: {
      projects: { type: 'string', default: '1000000' },
      processes: { type: 'string', default: '20' },
      reads: { type: 'string', default: '50000' },
      writes: { type: 'string', default: '1000' },
    },
  })
  const readsPerSecond = Number(values.reads)
  return [1, 2].map((share) => {
    const processes = Math.ceil(Number(values.processes) / share)
    const { hitShare, loadsPerSecond } = modelCaches({
      projects: Number(values.projects),
      processes,
      readsPerSecond,
      writesPerSecond: Number(values.writes),
    })
    return figure(
      `${processes} processes, ${values.projects} projects, ${readsPerSecond} reads and ${values.writes} changes a second`,
      `${(hitShare * 100).toFixed(1)} % from the cache, ${Math.round(loadsPerSecond)} loads from the database a second`,
    )
  })
}

printTable('Caches of many processes (a model)', modelRows())
