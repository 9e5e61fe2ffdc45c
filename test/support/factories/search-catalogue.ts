// Catalogues made by rule, the same for the same seed, of any size: for the fuzz test and the benchmark.
import { DAY_MS } from '#lib/time.ts'
import type { SearchDependency, SearchDocument, SearchVersion } from '#ports/search-index/document.ts'
import { DEPENDENCY_TYPES, union } from '#ports/search-index/document.ts'
import { sidesOf } from '#ports/search-index/sides.ts'

/** Numbers from 0 up to 1, the same sequence for the same seed. */
export type Random = () => number

/** A small generator (mulberry32): repeatable, which the platform's is not. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = Math.imul(state ^ (state >>> 15), state | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296
  }
}

export type SampleOptions = {
  readonly seed: number
  readonly projects: number
  /** The average; a project has from none up to twice as many. Exactly this many with `isSteady`. */
  readonly versions: number
  readonly isSteady: boolean
}

export const SAMPLE_CATEGORIES = (
  'adventure cursed decoration economy equipment food library magic mobs optimization social storage technology ' +
  'transportation utility worldgen challenging combat lightweight multiplayer quests realistic medieval fantasy'
).split(' ')
export const SAMPLE_LOADERS = 'anvilkit bellows cinder drift ember forgeway grain harrow inkwell jig'.split(' ')
export const SAMPLE_GAME_VERSIONS = Array.from({ length: 60 }, (_, i) => `1.${Math.floor(i / 4)}.${i % 4}`)
export const SAMPLE_TYPES = ['mod', 'modpack', 'resourcepack', 'shader', 'datapack', 'plugin']
export const SAMPLE_ENVIRONMENTS = ['client_and_server', 'client_only', 'server_only', 'singleplayer_only', 'unknown']
const LICENSES = ['MIT', 'Apache-2.0', 'LGPL-3.0-only', 'GPL-3.0-only', 'LicenseRef-All-Rights-Reserved', 'CC0-1.0']
const ONSETS = 'b br c ch d dr f fl g gr h j k l m n p qu r s sh st t th tr v w z'.split(' ')
const VOWELS = 'a e i o u ai ea oo'.split(' ')
const CODAS = ['', '', 'n', 'r', 'l', 's', 'ck', 'nd', 'rt', 'm']
/** 2024-01-01; every date lies before it, by up to six years. */
const EPOCH_MS = 1_704_067_200_000
const SPAN_MS = 6 * 365 * DAY_MS
const WORDS = 6000

/** Project after project; the words of names and summaries follow Zipf's law as those of people do. */
export function* sampleDocuments({ seed, projects, versions, isSteady }: SampleOptions): Generator<SearchDocument> {
  const random = seededRandom(seed)
  const words = sampleWords(seed)
  for (let i = 0; i < projects; i += 1) {
    const count = isSteady ? versions : Math.floor(random() * (2 * versions + 1))
    yield sampleDocument(random, words, i, count)
  }
}

/** The words that the samples of a seed are written with, commonest first. */
export function sampleWords(seed: number): string[] {
  const random = seededRandom(seed + 1)
  const words = new Set<string>()
  while (words.size < WORDS) {
    const syllables = words.size < 200 ? 1 + Math.floor(random() * 2) : 2 + Math.floor(random() * 2)
    let word = ''
    for (let k = 0; k < syllables; k += 1) word += pick(random, ONSETS) + pick(random, VOWELS)
    words.add(word + pick(random, CODAS))
  }
  return [...words]
}

export function sampleId(i: number): string {
  return (i * 7919 + 3_521_614_606_208).toString(36).padStart(8, '0').slice(-8)
}

function sampleDocument(random: Random, words: readonly string[], i: number, versionCount: number): SearchDocument {
  const word = () => words[Math.floor(words.length ** random()) - 1] ?? 'word'
  const nameWords = Array.from({ length: 1 + Math.floor(random() * 3) }, word)
  const created = EPOCH_MS - random() * SPAN_MS
  const type = SAMPLE_TYPES[Math.floor(random() ** 2 * SAMPLE_TYPES.length)] ?? 'mod'
  const versions = Array.from({ length: versionCount }, (_, k) =>
    sampleVersion(random, type, `v${sampleId(i * 32 + k)}`, created),
  )
  const categories = some(random, SAMPLE_CATEGORIES, 4)
  const author = `${word()}_${Math.floor(random() * 500)}`
  const id = sampleId(i)
  return {
    id,
    slug: `${nameWords.join('-')}-${i.toString(36)}`,
    name: nameWords.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join(' '),
    other_names: [],
    summary: `${Array.from({ length: 6 + Math.floor(random() * 8) }, word).join(' ')}.`,
    author,
    author_id: `u${id}`.slice(0, 8),
    organization: null,
    organization_id: null,
    license: pick(random, LICENSES),
    open_source: random() < 0.6,
    downloads: Math.floor(10 ** (random() * 7)),
    follows: Math.floor(10 ** (random() * 4)) - 1,
    icon_url: `https://files.example/data/${id}/icon.webp`,
    color: Math.floor(random() * 0xffffff),
    gallery: random() < 0.3 ? [`https://files.example/data/${id}/images/1.webp`] : [],
    featured_gallery: null,
    date_created: new Date(created).toISOString(),
    date_modified: new Date(created + random() * (EPOCH_MS - created)).toISOString(),
    categories,
    display_categories: categories.slice(0, 3),
    disclosure_types: [],
    dependencies: sampleDependencies(random, i),
    ...(random() < 0.01
      ? { components: { 'sample_java_server.ping.data.players_online': Math.floor(random() * 100) } }
      : {}),
    fields: {
      game_versions: union(versions.map((version) => version.fields['game_versions'] ?? [])).sort(),
      environment: union(versions.map((version) => version.fields['environment'] ?? [])).sort(),
    },
    versions,
  }
}

function sampleVersion(random: Random, type: string, id: string, created: number): SearchVersion {
  const first = Math.floor(random() ** 0.5 * SAMPLE_GAME_VERSIONS.length)
  const environment = pick(random, SAMPLE_ENVIRONMENTS)
  const loaders = some(random, SAMPLE_LOADERS, 2)
  const sides = sidesOf([type], environment)
  return {
    id,
    date_published: new Date(created + Math.floor(random() * 20) * 5_000_000).toISOString(),
    ordering: random() < 0.1 ? Math.floor(random() * 3) : null,
    status: random() < 0.95 ? 'listed' : 'archived',
    project_types: [type],
    loaders,
    categories: loaders,
    fields: {
      game_versions: SAMPLE_GAME_VERSIONS.slice(first, first + 1 + Math.floor(random() * 3)),
      environment: [environment],
      client_side: [sides.client_side],
      server_side: [sides.server_side],
    },
  }
}

function sampleDependencies(random: Random, i: number): SearchDependency[] {
  return Array.from({ length: Math.floor(random() ** 2 * 3) }, () => ({
    project_id: sampleId(Math.floor(random() ** 3 * (i + 1))),
    dependency_type: pick(random, DEPENDENCY_TYPES),
    name: 'A dependency',
    slug: null,
    icon_url: null,
  }))
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}

/** From one up to `most` of them, each once, in the list's order. */
function some(random: Random, from: readonly string[], most: number): string[] {
  return [...new Set(Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(random, from)))].sort()
}
