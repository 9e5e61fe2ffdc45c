// Random queries in normal form over the sample catalogue, for tests that compare engines.
import { FIELDS, findField } from '#ports/search-index/filter/fields.ts'
import { normalize } from '#ports/search-index/filter/normalize.ts'
import type { Comparison, Expression, Predicate } from '#ports/search-index/filter/tree.ts'
import { type SearchQuery, SORTS } from '#ports/search-index/search-index.ts'
import {
  type Random,
  SAMPLE_CATEGORIES,
  SAMPLE_ENVIRONMENTS,
  SAMPLE_GAME_VERSIONS,
  SAMPLE_LOADERS,
  SAMPLE_TYPES,
  sampleId,
} from './search-catalogue.ts'

const LIVE_FIELD = 'sample_java_server.ping.data.players_online'
const SIDES = ['required', 'unsupported', 'unknown', 'optional']
const COMPARISONS: readonly Comparison[] = ['<', '<=', '>', '>=']

const VALUES: Record<string, (random: Random) => string> = {
  categories: (random) => pick(random, random() < 0.8 ? SAMPLE_CATEGORIES : SAMPLE_LOADERS),
  project_categories: (random) => pick(random, SAMPLE_CATEGORIES),
  loaders: (random) => pick(random, SAMPLE_LOADERS),
  game_versions: (random) => pick(random, SAMPLE_GAME_VERSIONS),
  project_types: (random) => pick(random, SAMPLE_TYPES),
  all_project_types: (random) => pick(random, SAMPLE_TYPES),
  environment: (random) => pick(random, SAMPLE_ENVIRONMENTS),
  client_side: (random) => pick(random, SIDES),
  server_side: (random) => pick(random, SIDES),
  open_source: (random) => pick(random, ['true', 'false']),
  license: (random) => pick(random, ['MIT', 'CC0-1.0', 'nothing']),
}

/** A query over a sample catalogue of `size` projects whose texts are made of `words`. */
export function randomQuery(random: Random, words: readonly string[], size: number): SearchQuery {
  return {
    text: randomText(random, words),
    filter: normalize(random() < 0.75 ? [expression(random, 3)] : []),
    sort: pick(random, SORTS),
    limit: 1 + Math.floor(random() * 20),
    offset: random() < 0.5 ? 0 : Math.floor(random() * size),
  }
}

function expression(random: Random, depth: number): Expression {
  const kind = random()
  if (depth === 0 || kind < 0.25) return predicate(random)
  if (kind < 0.35) return { kind: 'not', child: expression(random, depth - 1) }
  const children = [expression(random, depth - 1), expression(random, depth - 1)]
  return { kind: pick(random, ['and', 'and', 'or'] as const), children }
}

function predicate(random: Random): Predicate {
  const name = random() < 0.03 ? LIVE_FIELD : pick(random, [...FIELDS.keys()])
  const field = findField(name, { legacy: false })
  if (field === undefined) throw new Error(`${name} is not a field`)
  const negated = random() < 0.3
  const kind = random()
  if (kind < 0.07) return { kind: 'exists', field, negated }
  if (field.type === 'number') {
    const value = randomNumber(random, name)
    if (kind < 0.9) return { kind: 'compare', field, operator: pick(random, COMPARISONS), value, negated }
    return { kind: 'equals', field, values: [value, randomNumber(random, name)], negated }
  }
  const make = VALUES[name] ?? (() => sampleId(Math.floor(random() * 20)))
  const values = Array.from({ length: kind < 0.35 ? 3 : 1 }, () => make(random))
  return { kind: 'equals', field, values, negated }
}

function randomNumber(random: Random, field: string): number {
  if (field === 'downloads') return Math.floor(10 ** (random() * 7))
  if (field === 'follows') return Math.floor(10 ** (random() * 4)) - 1
  if (field.endsWith('timestamp')) return 1_514_764_800 + Math.floor(random() * 190_000_000)
  return Math.floor(random() * 1000) / 10
}

/** Returns nothing, prefixes, words, pairs of words, or words with typos. */
function randomText(random: Random, words: readonly string[]): string {
  const word = () => words[Math.floor(words.length ** random()) - 1] ?? ''
  const kind = random()
  if (kind < 0.3) return ''
  if (kind < 0.4) return word().slice(0, 1 + Math.floor(random() * 3))
  if (kind < 0.55) return word()
  if (kind < 0.58) return word().replace(/^.../u, '$& ')
  if (kind < 0.7) return `${word()} ${word().slice(0, 2 + Math.floor(random() * 3))}`
  return `${withTypo(random, random() < 0.3 ? withTypo(random, word()) : word())}${random() < 0.3 ? ` ${word()}` : ''}`
}

function withTypo(random: Random, word: string): string {
  const at = Math.floor(random() * word.length)
  return pick(random, [
    word.slice(0, at) + word.slice(at + 1),
    `${word.slice(0, at)}x${word.slice(at)}`,
    `${word.slice(0, at)}x${word.slice(at + 1)}`,
    `${word.slice(0, at)}${word.charAt(at + 1)}${word.charAt(at)}${word.slice(at + 2)}`,
  ])
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}
