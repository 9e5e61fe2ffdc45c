// The walls of the house, as rules: who may import whom, no cycles, no barrels, no file that grows without end.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')
const FILES = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.d.ts'))
const SOURCES = FILES.filter((file) => !isTestSupport(file))

/** Tests, and the suites, archives and faults that tests share. */
function isTestSupport(file: string): boolean {
  return /\.test\.ts$|\/[a-z-]+-child\.ts$/.test(file)
}

/** What a file imports of our own, as paths from the root. */
function importsOf(file: string): { path: string; typeOnly: boolean }[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const found = [...text.matchAll(/^\s*(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'|import\('([^']+)'\)/gm)]
  return found.flatMap(([, typeWord, from, dynamic]) => {
    const specifier = from ?? dynamic ?? ''
    const typeOnly = typeWord !== undefined
    if (specifier.startsWith('#')) return [{ path: join('src', specifier.slice(1)), typeOnly }]
    return specifier.startsWith('.') ? [{ path: relative(ROOT, join(ROOT, dirname(file), specifier)), typeOnly }] : []
  })
}

const PORTS = ['files', 'search-index', 'analytics-store', 'counters', 'mail', 'images', 'scanner']

/** The layer a file belongs to; features have two: their routes, and what lies below them. */
function layerOf(file: string): string {
  const [, area = '', ...rest] = file.split('/')
  if (rest.length === 0) return area.replace('.ts', '')
  if (PORTS.includes(area)) return 'port'
  if (area !== 'features') return area
  return /(^|\/)(routes|[a-z-]+-routes|[a-z-]+-form|pages?|page-[a-z-]+)\.ts$/.test(rest.join('/')) ||
    rest[0] === 'pages'
    ? 'routes'
    : 'feature'
}

const COMMON = ['lib', 'db', 'telemetry', 'taxonomy']
const ALLOWED: Record<string, readonly string[]> = {
  lib: ['lib'],
  taxonomy: ['lib', 'taxonomy'],
  config: ['lib', 'config'],
  db: ['lib', 'db'],
  'embedded-postgres': ['lib', 'db', 'telemetry', 'embedded-postgres'],
  telemetry: ['lib', 'telemetry'],
  cache: [...COMMON, 'cache'],
  port: [...COMMON, 'port', 'jobs'],
  jobs: [...COMMON, 'jobs'],
  http: [...COMMON, 'http', 'cache', 'port'],
  feature: [...COMMON, 'cache', 'port', 'jobs', 'feature'],
  routes: [...COMMON, 'cache', 'port', 'jobs', 'feature', 'http', 'routes'],
}
/** What requests share: schemas and parsers of values in a query, pure, so that `requests.ts` may use them. */
const PURE_OF_HTTP = ['src/http/query-values.ts']
/** Files of the root that anybody may know the types of. */
const TYPES_FOR_ALL = ['src/main/deps.ts', 'src/config/config.ts']

test('each layer imports only what lies below it', () => {
  const faults: string[] = []
  for (const file of SOURCES) {
    const allowed = ALLOWED[layerOf(file)]
    if (allowed === undefined) continue
    for (const { path, typeOnly } of importsOf(file)) {
      if (TYPES_FOR_ALL.includes(path) && typeOnly) continue
      if (PURE_OF_HTTP.includes(path) && /(^|[/-])requests\.ts$/.test(file)) continue
      if (!allowed.includes(layerOf(path))) faults.push(`${file} (${layerOf(file)}) imports ${path} (${layerOf(path)})`)
    }
  }
  assert.deepEqual(faults, [])
})

test('nothing in src imports from test, and every import exists', () => {
  const faults: string[] = []
  const known = new Set(FILES)
  for (const file of FILES) {
    for (const { path } of importsOf(file)) {
      if (
        path.startsWith('src/test/')
          ? !isTestSupport(file)
          : path.startsWith('src/') && path.endsWith('.ts') && !known.has(path)
      ) {
        faults.push(`${file} imports ${path}`)
      }
    }
  }
  assert.deepEqual(faults, [])
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
  const faults = SOURCES.filter((file) =>
    /^export \* from|^export default/m.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  assert.deepEqual(faults, [])
})

test('only the entry reads the environment and the arguments', () => {
  const faults = SOURCES.filter((file) => /process\.(env|argv)\b/.test(readFileSync(join(ROOT, file), 'utf8')))
  assert.deepEqual(faults, [])
})

test('no source file passes 350 lines', () => {
  const long = SOURCES.filter(
    (file) => file !== 'src/db/schema.ts' && readFileSync(join(ROOT, file), 'utf8').split('\n').length > 351,
  )
  assert.deepEqual(long, [])
})
