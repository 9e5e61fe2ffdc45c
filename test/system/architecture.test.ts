// The order of the code, as rules: who may import whom, no cycles, no barrels, no file that grows without end.
import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')
const FILES = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.d.ts'))
/** Without tests, and without programs of their own that another process starts. */
const SOURCES = FILES.filter((file) => !/(\.test|-child)\.ts$/.test(file))

/** The features from the lowest to the highest: each may import those before it. A new one takes its place here. */
const FEATURE_ORDER = [
  'access',
  'audit',
  'tags',
  'statistics',
  'limits',
  'rate-limits',
  'meta',
  'affiliates',
  'pictures',
  'settings',
  'payouts',
  'users',
  'content-images',
  'notifications',
  'threads',
  'projects',
  'follows',
  'versions',
  'releases',
  'scans',
  'publishing',
  'teams',
  'organizations',
  'members',
  'collections',
  'reports',
  'moderation',
  'analytics',
  'downloads',
  'build-tools',
  'search',
  'accounts',
  'oauth',
  'personal-data',
  'backup',
  'seed',
  'pages',
  'site',
  'v2',
]

const PORTS = ['files', 'search-index', 'analytics-store', 'counters', 'mail', 'images', 'scanner']

/** The layer a file belongs to; features have two: their routes, and what lies below them. */
function layerOf(file: string): string {
  // Pure: schemas and readers of values in query strings, which requests of features are made of.
  if (file === 'src/http/query-values.ts') return 'lib'
  const [, area = '', ...rest] = file.split('/')
  if (PORTS.includes(area)) return 'port'
  if (area !== 'features') return area
  const isRoutes = /(^|\/)(routes|[a-z-]+-routes|[a-z-]+-form|pages?|page-[a-z-]+)\.ts$/.test(rest.join('/'))
  return isRoutes || ['pages', 'site', 'v2'].includes(rest[0] ?? '') ? 'routes' : 'feature'
}

const COMMON = ['lib', 'db', 'telemetry', 'taxonomy']
/** What each layer may import. `main` and `cli` are on top and not listed: they may import anything. */
const ALLOWED: Record<string, readonly string[]> = {
  lib: ['lib'],
  channel: ['lib', 'channel'],
  taxonomy: ['lib', 'taxonomy'],
  config: ['lib', 'config'],
  db: ['lib', 'db'],
  'embedded-postgres': ['lib', 'db', 'telemetry', 'embedded-postgres'],
  telemetry: ['lib', 'telemetry'],
  cache: [...COMMON, 'cache'],
  jobs: [...COMMON, 'jobs'],
  port: [...COMMON, 'port', 'jobs', 'channel'],
  html: [...COMMON, 'html'],
  http: [...COMMON, 'http', 'cache', 'port'],
  feature: [...COMMON, 'cache', 'port', 'jobs', 'feature', 'html', 'channel'],
  routes: [...COMMON, 'cache', 'port', 'jobs', 'feature', 'http', 'html', 'routes'],
}
/** Schemas and parsers of values in a query, pure: `requests.ts` may use them. */
const PURE_OF_HTTP = 'src/http/query-values.ts'
/** Files of the top that everybody may know the types of. */
const TYPES_FOR_ALL = ['src/main/deps.ts', 'src/config/config.ts']

type Import = { path: string; typeOnly: boolean }

/** What a file imports of our own, as paths from the root. */
function importsOf(file: string): Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const found = [...text.matchAll(/^\s*(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'|import\('([^']+)'\)/gm)]
  return found.flatMap(([, typeWord, from, dynamic]) => {
    const specifier = from ?? dynamic ?? ''
    const typeOnly = typeWord !== undefined
    if (specifier.startsWith('#test/')) return [{ path: join('test', specifier.slice(6)), typeOnly }]
    if (specifier.startsWith('#')) return [{ path: join('src', specifier.slice(1)), typeOnly }]
    return specifier.startsWith('.') ? [{ path: relative(ROOT, join(ROOT, dirname(file), specifier)), typeOnly }] : []
  })
}

const featureOf = (file: string): string | undefined => /^src\/features\/([^/]+)\//.exec(file)?.[1]

test('each layer imports only what lies below it', () => {
  const problems: string[] = []
  for (const file of SOURCES) {
    const allowed = ALLOWED[layerOf(file)]
    if (allowed === undefined) continue
    for (const { path, typeOnly } of importsOf(file)) {
      if (TYPES_FOR_ALL.includes(path) && typeOnly) continue
      if (path === PURE_OF_HTTP && /(^|[/-])requests\.ts$/.test(file)) continue
      if (!allowed.includes(layerOf(path)))
        problems.push(`${file} (${layerOf(file)}) imports ${path} (${layerOf(path)})`)
    }
  }
  assert.deepEqual(problems, [])
})

test('every feature has its place in the order, and imports only features below it', () => {
  const folders = readdirSync(join(ROOT, 'src/features')).sort()
  assert.deepEqual(
    folders,
    FEATURE_ORDER.filter((name) => folders.includes(name)).sort(),
    'each folder below src/features stands in FEATURE_ORDER',
  )
  const problems: string[] = []
  for (const file of SOURCES) {
    const from = featureOf(file)
    if (from === undefined) continue
    for (const { path } of importsOf(file)) {
      const to = featureOf(path)
      if (to !== undefined && FEATURE_ORDER.indexOf(to) > FEATURE_ORDER.indexOf(from)) {
        problems.push(`${file} imports ${path}, but ${to} is above ${from}`)
      }
    }
  }
  assert.deepEqual(problems, [])
})

test('no product file imports tests or their support, and every import exists', () => {
  const known = new Set([...FILES, ...globSync('test/**/*.ts', { cwd: ROOT })])
  const problems: string[] = []
  for (const file of FILES) {
    for (const { path } of importsOf(file)) {
      const isTest = path.startsWith('test/') || path.endsWith('.test.ts')
      if (isTest && SOURCES.includes(file)) problems.push(`${file} imports the test file ${path}`)
      if (path.endsWith('.ts') && !path.endsWith('.d.ts') && !known.has(path))
        problems.push(`${file} imports ${path}, which is not there`)
    }
  }
  assert.deepEqual(problems, [])
})

test('there are no cycles but between types', () => {
  const graph = new Map(
    SOURCES.map((file) => [
      file,
      importsOf(file)
        .filter(({ typeOnly }) => !typeOnly)
        .map(({ path }) => path),
    ]),
  )
  const state = new Map<string, 'open' | 'done'>()
  const cycles: string[] = []
  const visit = (file: string, path: string[]): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      cycles.push([...path.slice(path.indexOf(file)), file].join(' → '))
      return
    }
    state.set(file, 'open')
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    state.set(file, 'done')
  }
  for (const file of graph.keys()) visit(file, [])
  assert.deepEqual(cycles, [])
})

test('no file re-exports others, and none has a default export', () => {
  const problems = SOURCES.filter((file) =>
    /^export \* from|^export default/m.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  assert.deepEqual(problems, [])
})

test('only the entry reads the environment and the arguments', () => {
  const problems = SOURCES.filter((file) => /process\.(env|argv)\b/.test(readFileSync(join(ROOT, file), 'utf8')))
  assert.deepEqual(problems, [])
})

test('no source file passes 350 lines', () => {
  const long = SOURCES.filter(
    (file) => file !== 'src/db/schema.ts' && readFileSync(join(ROOT, file), 'utf8').split('\n').length > 351,
  )
  assert.deepEqual(long, [])
})
