// Rules for the structure of the code: order of the layers, no import cycles, no re-exports, no large files or folders.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { LAYERS } from '../../scripts/layers.ts'

const ROOT = join(import.meta.dirname, '../..')
const FILES = globSync('{src,demo}/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.d.ts'))
const SOURCES = FILES.filter((file) => !file.endsWith('.test.ts'))

const layerOf = (file: string): number => LAYERS.findIndex(({ folder }) => file.startsWith(`${folder}/`))

/** The feature, port or part of the platform or of the web site that a file belongs to; undefined elsewhere. */
const areaOf = (file: string): string | undefined =>
  /^src\/(?:features\/[^/]+|platform|ports|web)\/[^/.]+(?=\/)/.exec(file)?.[0]

/** Paths from the root of everything that a file imports from this repository, types included. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const specifiers = text.matchAll(/^\s*(?:import|export)\s[^'";]*?from\s+'([^']+)'|import\('([^']+)'\)/gm)
  return [...specifiers].flatMap(([, from, dynamic]) => {
    const specifier = from ?? dynamic ?? ''
    if (/^#(test|demo)\//.test(specifier)) return [specifier.slice(1)]
    if (specifier.startsWith('#')) return [join('src', specifier.slice(1))]
    return specifier.startsWith('.') ? [relative(ROOT, join(ROOT, dirname(file), specifier))] : []
  })
}

const IMPORTS = new Map(FILES.map((file) => [file, importsOf(file)]))

/** Every cycle of a graph, as `a → b → a`. */
function cyclesOf(graph: ReadonlyMap<string, Iterable<string>>): string[] {
  const state = new Map<string, 'open' | 'done'>()
  const cycles: string[] = []
  const visit = (node: string, path: readonly string[]): void => {
    if (state.get(node) === 'done') return
    if (state.get(node) === 'open') {
      cycles.push([...path.slice(path.indexOf(node)), node].join(' → '))
      return
    }
    state.set(node, 'open')
    for (const next of graph.get(node) ?? []) visit(next, [...path, node])
    state.set(node, 'done')
  }
  for (const node of graph.keys()) visit(node, [])
  return cycles
}

test('every file belongs to a layer, and imports only its own layer and lower layers', () => {
  const problems = SOURCES.flatMap((file) => {
    const layer = layerOf(file)
    if (layer === -1) return [`${file} belongs to no layer of scripts/layers.ts`]
    return (IMPORTS.get(file) ?? [])
      .filter((path) => layerOf(path) > layer)
      .map((path) => `${file} (${LAYERS[layer]?.name}) imports ${path} (${LAYERS[layerOf(path)]?.name})`)
  })
  assert.deepEqual(problems, [])
})

test('the service does not import the published client, and the client imports nothing of the service', () => {
  const client = globSync('packages/client/src/**/*.ts', { cwd: ROOT })
  assert.ok(client.length > 10)
  assert.deepEqual(
    SOURCES.filter((file) => IMPORTS.get(file)?.some((path) => path.startsWith('src/client/'))),
    [],
  )
  const outside = client.flatMap((file) =>
    importsOf(file)
      .filter((path) => !path.startsWith('packages/client/src/'))
      .map((path) => `${file} imports ${path}`),
  )
  assert.deepEqual(outside, [])
})

test('scripts/layers.ts lists every folder of a layer', () => {
  const problems = LAYERS.flatMap(({ folder, parts }) => {
    if (parts === undefined) return []
    const folders = readdirSync(join(ROOT, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const names = folders.map(({ name }) => name)
    const missing = names.filter((name) => !(name in parts)).map((name) => `${folder}/${name} is not listed`)
    const extra = Object.keys(parts).filter((name) => !names.includes(name))
    return [...missing, ...extra.map((name) => `${folder}/${name} does not exist`)]
  })
  assert.deepEqual(problems, [])
})

test('no files import each other in a cycle, type imports included', () => {
  assert.deepEqual(cyclesOf(new Map(SOURCES.map((file) => [file, IMPORTS.get(file) ?? []]))), [])
})

test('no features, ports or parts of the platform import each other in a cycle', () => {
  const areas = new Map<string, Set<string>>()
  for (const file of SOURCES) {
    const from = areaOf(file)
    if (from === undefined) continue
    const targets = areas.get(from) ?? new Set()
    for (const path of IMPORTS.get(file) ?? []) {
      const to = areaOf(path)
      if (to !== undefined && to !== from) targets.add(to)
    }
    areas.set(from, targets)
  }
  assert.deepEqual(cyclesOf(areas), [])
})

test('below the routes of a feature, nothing knows HTTP', () => {
  const isRoutes = (file: string) => /(^|[/-])(routes|[a-z-]+-form)\.ts$/.test(file)
  const isPure = (path: string) => path === 'src/platform/http/query-values.ts'
  const problems = SOURCES.filter(
    (file) => /^src\/features\/(?!compat\/v2\/|basics\/authentication\/)/.test(file) && !isRoutes(file),
  ).flatMap((file) =>
    (IMPORTS.get(file) ?? [])
      .filter((path) => path.startsWith('src/platform/http/') && !(isPure(path) && /requests\.ts$/.test(file)))
      .map((path) => `${file} imports ${path}`),
  )
  assert.deepEqual(problems, [])
})

test('every import exists, and no product file imports a test or its support', () => {
  const existing = new Set([...FILES, ...globSync('test/**/*.ts', { cwd: ROOT })])
  const problems = FILES.flatMap((file) =>
    (IMPORTS.get(file) ?? []).flatMap((path) => {
      const isTest = path.startsWith('test/') || path.endsWith('.test.ts')
      if (isTest && SOURCES.includes(file)) return [`${file} imports the test file ${path}`]
      const isMissing = path.endsWith('.ts') && !path.endsWith('.d.ts') && !existing.has(path)
      return isMissing && !path.startsWith('scripts/') ? [`${file} imports ${path}, which does not exist`] : []
    }),
  )
  assert.deepEqual(problems, [])
})

test('no file re-exports another file or has a default export', () => {
  const problems = SOURCES.filter((file) =>
    /^export \* from|^export default/m.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  assert.deepEqual(problems, [])
})

test('only the command line reads the environment and the arguments', () => {
  const problems = SOURCES.filter(
    (file) =>
      // Programs that a process starts as its children receive arguments.
      !file.endsWith('-child.ts') && /process\.(env|argv)\b/.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  assert.deepEqual(problems, [])
})

test('no source file is longer than 350 lines', () => {
  const long = SOURCES.filter(
    (file) => file !== 'src/platform/db/schema.ts' && readFileSync(join(ROOT, file), 'utf8').split('\n').length > 351,
  )
  assert.deepEqual(long, [])
})

const SUBJECT = new Set(
  ['project', 'version', 'team', 'organization', 'mod', 'modpack', 'loader', 'game', 'collection', 'gallery'].concat([
    'publisher',
    'moderator',
    'follower',
    'catalogue',
  ]),
)

/** Words with another meaning: versions of software and protocols, loaders of caches, readers of the log of changes. */
const OTHER_MEANING: Readonly<Record<string, string>> = {
  'archives/archive-directory.ts': 'version',
  'cache/change-log.ts': 'follower',
  'cache/entity-cache.ts': 'loader',
  'cache/kind-cache.ts': 'loader',
  'cache/listen.ts': 'follower',
  'config/env-engines.ts': 'version',
  'config/version.ts': 'version',
  'db/migrate.ts': 'version',
  'db/migration-files.ts': 'version',
  'embedded-postgres/binaries.ts': 'version',
  'embedded-postgres/cluster.ts': 'version',
  'embedded-postgres/embedded-postgres.ts': 'version',
  'http/openapi/openapi.ts': 'version',
  'http/request-context.ts': 'version',
  'http/responses/entity-tags.ts': 'version',
  'http/route-config.ts': 'version',
  'images/svg-allowed.ts': 'version',
  'jobs/queue-state.ts': 'version',
  'telemetry/traces.ts': 'version',
}

/** Settings and metrics of features that the platform still knows. This list only shrinks. */
const SUBJECT_LEFT: Readonly<Record<string, string>> = {
  'config/config.ts': 'collection loader organization project version',
  'config/env-accounts.ts': 'publisher',
  'config/env-server.ts': 'game loader version',
  'config/env-values.ts': 'loader',
  'config/env.ts': 'collection organization project version',
  'config/load-config.ts': 'collection game loader organization project version',
  'config/optional-packages.ts': 'project version',
  'telemetry/metrics.ts': 'version',
}

test('the platform has no word of the subject of Depot', () => {
  const found = SOURCES.filter((file) => /^src\/platform\/(?!db\/schema\.ts)/.test(file)).flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8')
    const words = (text.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase())
    const used = new Set(words.map((word) => word.replace(/s$/, '')).filter((word) => SUBJECT.has(word)))
    return used.size === 0 ? [] : [[file.slice('src/platform/'.length), [...used].sort().join(' ')] as const]
  })
  assert.deepEqual(Object.fromEntries(found), { ...OTHER_MEANING, ...SUBJECT_LEFT })
})

/** Maximum number of files in one folder. Generated files do not count, and migrations are never merged. */
const FILES_IN_FOLDER_MAX = 20

test(`no folder has more than ${FILES_IN_FOLDER_MAX} files`, () => {
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const folders = new Set(tracked.trim().split('\n').map(dirname))
  const full = [...folders]
    .filter((folder) => !['.', 'docs/generated', 'migrations'].includes(folder))
    .map((folder) => ({ folder, files: readdirSync(join(ROOT, folder), { withFileTypes: true }) }))
    .map(({ folder, files }) => ({ folder, count: files.filter((file) => file.isFile()).length }))
    .filter(({ count }) => count > FILES_IN_FOLDER_MAX)
  assert.deepEqual(full, [])
})
