import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSearchRequest, type SearchRequest } from '#features/reading/search/requests.ts'
import {
  type Random,
  SAMPLE_CATEGORIES,
  SAMPLE_ENVIRONMENTS,
  SAMPLE_GAME_VERSIONS,
  SAMPLE_LOADERS,
  SAMPLE_TYPES,
  sampleDocuments,
  sampleId,
  sampleWords,
  seededRandom,
} from '#test/support/factories/search-catalogue.ts'
import { naiveSearch } from '#test/support/stand-ins/reference-search.ts'
import type { SearchDocument } from '../document.ts'
import { FIELDS } from '../filter/fields.ts'
import { type SearchChange, SORTS } from '../search-index.ts'
import { Engine } from './engine.ts'
import { ByteWriter } from './parts/hit-store.ts'
import { prepareChange } from './prepare.ts'

// FUZZ_RUNS=100000 makes it long; FUZZ_SEED repeats a failure.
const { FUZZ_RUNS = '500', FUZZ_SEED = '1' } = process.env
const RUNS = Number(FUZZ_RUNS)

function search(
  engine: Engine,
  request: SearchRequest,
): { hits: { project_id: string; version_id: string | null }[]; total: number } {
  const out = new ByteWriter()
  engine.search(parseSearchRequest(request), out)
  const body = JSON.parse(Buffer.from(out.take()).toString())
  const hits = body.hits.map((hit: Record<string, unknown>) => {
    assert.equal(hit['version_id'], hit['latest_version'])
    return { project_id: hit['project_id'], version_id: hit['version_id'] }
  })
  return { hits, total: body.total_hits }
}

const apply = (engine: Engine, changes: readonly SearchChange[]) => engine.apply(changes.map(prepareChange))

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}

const VALUES: Record<string, (random: Random) => string> = {
  categories: (random) => pick(random, random() < 0.8 ? SAMPLE_CATEGORIES : SAMPLE_LOADERS),
  project_categories: (random) => pick(random, SAMPLE_CATEGORIES),
  loaders: (random) => pick(random, SAMPLE_LOADERS),
  game_versions: (random) => pick(random, SAMPLE_GAME_VERSIONS),
  project_types: (random) => pick(random, SAMPLE_TYPES),
  all_project_types: (random) => pick(random, SAMPLE_TYPES),
  environment: (random) => pick(random, SAMPLE_ENVIRONMENTS),
  client_side: (random) => pick(random, ['required', 'unsupported', 'unknown', 'optional']),
  server_side: (random) => pick(random, ['required', 'unsupported', 'unknown', 'optional']),
  open_source: (random) => pick(random, ['true', 'false']),
  license: (random) => pick(random, ['MIT', 'CC0-1.0', 'nothing']),
  downloads: (random) => String(Math.floor(10 ** (random() * 7))),
  follows: (random) => String(Math.floor(10 ** (random() * 4)) - 1),
}

function predicate(random: Random): string {
  const field = random() < 0.03 ? 'sample_java_server.ping.data.players_online' : pick(random, [...FIELDS.keys()])
  const type = FIELDS.get(field)?.type ?? 'number'
  const kind = random()
  if (kind < 0.07) return `${field} ${pick(random, ['EXISTS', 'NOT EXISTS'])}`
  const make =
    VALUES[field] ??
    (field.endsWith('timestamp')
      ? () => String(1_514_764_800 + Math.floor(random() * 190_000_000))
      : type === 'number'
        ? () => String(Math.floor(random() * 100))
        : () => sampleId(Math.floor(random() * 20)))
  const value = () => (type === 'text' ? JSON.stringify(make(random)) : make(random))
  if (type === 'number' && kind < 0.9) return `${field} ${pick(random, ['<', '<=', '>', '>='])} ${value()}`
  if (kind < 0.35) return `${field} ${pick(random, ['IN', 'NOT IN', '=', '!='])} [${value()}, ${value()}, ${value()}]`
  return `${field} ${pick(random, ['=', '=', '!='])} ${value()}`
}

function expression(random: Random, depth: number): string {
  const kind = random()
  if (depth === 0 || kind < 0.25) return predicate(random)
  if (kind < 0.35) return `NOT (${expression(random, depth - 1)})`
  return `(${expression(random, depth - 1)} ${pick(random, ['AND', 'AND', 'OR'])} ${expression(random, depth - 1)})`
}

function queryText(random: Random, words: readonly string[]): string {
  const word = () => words[Math.floor(words.length ** random()) - 1] ?? ''
  const kind = random()
  if (kind < 0.4) return ''
  if (kind < 0.5) return word().slice(0, 1 + Math.floor(random() * 3))
  if (kind < 0.65) return word()
  if (kind < 0.68) return word().replace(/^.../u, '$& ')
  if (kind < 0.8) return `${word()} ${word().slice(0, 2 + Math.floor(random() * 3))}`
  const wrong = word()
  const at = Math.floor(random() * wrong.length)
  const changed = [
    wrong.slice(0, at) + wrong.slice(at + 1),
    `${wrong.slice(0, at)}x${wrong.slice(at)}`,
    `${wrong.slice(0, at)}x${wrong.slice(at + 1)}`,
    `${wrong.slice(0, at)}${wrong.charAt(at + 1)}${wrong.charAt(at)}${wrong.slice(at + 2)}`,
  ]
  return `${pick(random, changed)}${random() < 0.3 ? ` ${word()}` : ''}`
}

function request(random: Random, words: readonly string[], size: number): SearchRequest {
  return {
    query: queryText(random, words),
    ...(random() < 0.75 ? { new_filters: expression(random, 3) } : {}),
    ...(random() < 0.1 ? { facets: JSON.stringify([[predicate(random), predicate(random)]]) } : {}),
    index: pick(random, SORTS),
    limit: 1 + Math.floor(random() * 20),
    offset: random() < 0.5 ? 0 : Math.floor(random() * size),
  }
}

function agree(engine: Engine, documents: readonly SearchDocument[], asked: SearchRequest): number {
  const found = search(engine, asked)
  assert.deepEqual(found, naiveSearch(documents, parseSearchRequest(asked)), JSON.stringify(asked))
  return found.hits.length
}

test('engine and naive evaluator agree on random filters, sorts and texts', () => {
  const seed = Number(FUZZ_SEED)
  const random = seededRandom(seed)
  const words = sampleWords(seed)
  const documents = [...sampleDocuments({ seed, projects: 400, versions: 4, isSteady: false })]
  const engine = new Engine()
  apply(
    engine,
    documents.map((document) => ({ kind: 'upsert', sequence: 1, document })),
  )
  let withHits = 0
  for (let i = 0; i < RUNS; i += 1) withHits += Math.sign(agree(engine, documents, request(random, words, 400)))
  assert.ok(withHits > RUNS / 4, `only ${withHits} of ${RUNS} queries found anything`)
})

test('results agree for values that are so common that they are stored as bits', () => {
  const seed = Number(FUZZ_SEED) + 1
  const random = seededRandom(seed)
  const documents = [...sampleDocuments({ seed, projects: 3500, versions: 5, isSteady: false })]
  const engine = new Engine()
  for (let i = 0; i < documents.length; i += 250) {
    apply(
      engine,
      documents.slice(i, i + 250).map((document) => ({ kind: 'upsert', sequence: 1, document })),
    )
  }
  for (let i = 0; i < RUNS / 20; i += 1) agree(engine, documents, { ...request(random, [], 3500), query: '' })
})

test('they agree after every kind of change, with compactions between', () => {
  const seed = Number(FUZZ_SEED) + 2
  const random = seededRandom(seed)
  const words = sampleWords(seed)
  const pool = [...sampleDocuments({ seed, projects: 150, versions: 3, isSteady: false })]
  const current = new Map<string, SearchDocument>()
  const engine = new Engine(undefined, { minDeadSlots: 20 })
  let compactions = 0
  for (let round = 1; round <= RUNS / 4; round += 1) {
    for (let k = 0; k < 6; k += 1) {
      change(round * 10 + k)
      tidy(Math.floor(random() * 8))
    }
    for (let k = 0; k < 4; k += 1) {
      agree(engine, [...current.values()], request(random, words, current.size))
      tidy(1)
    }
    assert.equal(engine.size, current.size)
    // A saved snapshot is always complete, also during a compaction.
    if (round % 10 === 0) {
      const restored = new Engine(structuredClone(engine.save()))
      agree(restored, [...current.values()], request(random, words, current.size))
    }
  }
  assert.ok(compactions > 1, `${compactions} compactions took place`)

  function tidy(steps: number): void {
    for (let k = 0; k < steps; k += 1) {
      const before = engine.slots
      engine.tidy()
      if (engine.slots < before) compactions += 1
    }
  }

  function change(sequence: number): void {
    const source = pick(random, pool)
    const known = current.get(source.id)
    if (known !== undefined && random() < 0.2) {
      current.delete(source.id)
      apply(engine, [{ kind: 'delete', sequence, id: source.id }])
      return
    }
    // Half of the changes to a known project are of its counts only, which are applied in place.
    const counts = { downloads: Math.floor(random() * 5000), follows: Math.floor(random() * 50) }
    const document =
      known !== undefined && random() < 0.5
        ? { ...known, ...counts }
        : { ...pick(random, pool), id: source.id, ...counts }
    current.set(source.id, document)
    const stale = { ...document, name: 'Stale', downloads: 0 }
    apply(engine, [
      { kind: 'upsert', sequence, document },
      { kind: 'upsert', sequence: sequence - 1, document: stale },
      { kind: 'upsert', sequence, document: stale },
    ])
  }
})

test('cached filters stay correct through changes and compactions', () => {
  const seed = Number(FUZZ_SEED) + 3
  const random = seededRandom(seed)
  const current = new Map<string, SearchDocument>()
  for (const document of sampleDocuments({ seed, projects: 300, versions: 2, isSteady: false }))
    current.set(document.id, document)
  const pool = [...current.values()]
  const engine = new Engine(undefined, { minDeadSlots: 30 })
  apply(
    engine,
    pool.map((document) => ({ kind: 'upsert', sequence: 1, document })),
  )
  const asked: SearchRequest[] = [
    'loaders=drift OR loaders=ember OR categories=magic',
    'loaders=drift AND project_types=mod',
    'categories != magic AND loaders != drift',
    'downloads > 3000 AND open_source = true',
    'follows < 500 OR license = "MIT"',
    'version_published_timestamp > 1600000000 AND environment = client_only',
  ].map((new_filters) => ({ new_filters, limit: 20 }))
  let compactions = 0
  for (let round = 2; round < 2 + RUNS / 4; round += 1) {
    for (let k = 0; k < 8; k += 1) {
      const document = pick(random, pool)
      const sequence = round * 10 + k
      const kind = random()
      if (kind < 0.1) {
        current.delete(document.id)
        apply(engine, [{ kind: 'delete', sequence, id: document.id }])
        continue
      }
      const counts = { downloads: Math.floor(10 ** (random() * 7)), follows: Math.floor(random() * 1000) }
      const known = current.get(document.id)
      const changed = {
        ...(kind < 0.6 || known === undefined ? pick(random, pool) : known),
        ...counts,
        id: document.id,
      }
      current.set(document.id, changed)
      apply(engine, [{ kind: 'upsert', sequence, document: changed }])
    }
    for (let k = 0; k < 3; k += 1) {
      const before = engine.slots
      for (let steps = random() * 30; steps > 0; steps -= 1) engine.tidy()
      if (engine.slots < before) compactions += 1
      agree(engine, [...current.values()], pick(random, asked))
    }
  }
  assert.ok(compactions > 1, `${compactions} compactions took place`)
})
