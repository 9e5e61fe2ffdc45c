import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { checkCategories, checkLoaders, gamesOf, loadTaxonomy, projectTypesOf } from './taxonomy.ts'

const DEFAULT_SET = path.join(import.meta.dirname, '../../taxonomy')
const { taxonomy, launchers } = loadTaxonomy()
const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

type Rows = Record<string, unknown>[]

/** A copy of the default set with some files' rows changed. */
function changed(edits: Record<string, (rows: Rows) => unknown>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'depot-taxonomy-'))
  folders.push(folder)
  cpSync(DEFAULT_SET, folder, { recursive: true })
  for (const [file, edit] of Object.entries(edits)) {
    const name = path.join(folder, file)
    writeFileSync(name, JSON.stringify(edit(JSON.parse(readFileSync(name, 'utf8')) as Rows)))
  }
  return folder
}

function namesOf(type: string): string[] {
  return [...(taxonomy.categoriesByType.get(type)?.keys() ?? [])]
}

test('the default set holds the agreed categories under the agreed headers', () => {
  const expected: Record<string, string> = {
    mod: 'adventure cursed decoration economy equipment food game-mechanics library magic mobs optimization social storage technology transportation utility worldgen',
    modpack: 'adventure challenging combat kitchen-sink lightweight magic multiplayer optimization quests technology',
    resourcepack: 'realistic cartoon vanilla-like medieval modern fantasy 16x 32x 48x 64x 128x 256x 512x-and-higher',
    shader:
      'atmosphere bloom cartoon colored-lighting fantasy foliage lighting pbr potato realistic reflections screenshot semi-realistic shadows vanilla-like',
  }
  for (const [type, names] of Object.entries(expected)) {
    for (const name of names.split(' ')) assert.ok(namesOf(type).includes(name), `${type} ${name}`)
  }
  const headers = (type: string) =>
    [...new Set(taxonomy.categories.flatMap((row) => (row.project_type === type ? [row.header] : [])))].sort()
  assert.deepEqual(headers('mod'), ['categories'])
  assert.deepEqual(headers('shader'), ['categories', 'features', 'performance'])
  assert.deepEqual(headers('resourcepack'), ['categories', 'features', 'resolutions'])
})

test('an unknown loader or category is named with its place, a repeated one counts once', () => {
  assert.deepEqual(checkLoaders(taxonomy, ['forge', 'fabric', 'forge']), ['forge', 'fabric'])
  assert.deepEqual(checkCategories(taxonomy, ['pbr', 'magic', 'pbr']), ['pbr', 'magic'])
  assert.throws(() => checkLoaders(taxonomy, ['forge', 'Forge']), { details: detail('loaders.1') })
  assert.throws(() => checkCategories(taxonomy, ['__proto__'], 'additional_categories'), {
    details: { field: 'additional_categories.0', message: 'is not a known category: GET /v3/tag/category lists them' },
  })
})

function detail(field: string) {
  return { field, message: 'is not a known loader: GET /v3/tag/loader lists them' }
}

test('project types and games follow from the loaders', () => {
  assert.deepEqual(projectTypesOf(taxonomy, ['velocity', 'fabric', 'gone']), ['mod', 'plugin'])
  assert.deepEqual(gamesOf(taxonomy, ['fabric']), ['minecraft-java'])
  assert.deepEqual(gamesOf(taxonomy, []), [])
})

test('reports all errors of the data files together, each with its file and path', () => {
  const folder = changed({
    'games.json': () => [{ slug: 'x y', name: 'x', icon: null, banner: null, extra: 1 }],
    'report-types.json': () => 'spam',
    'code-host.json': () => ({ token_prefixes: ['x'] }),
    'client-programs.json': () => [{ label: 'a' }],
    'file-rules.json': (data) => ({ ...data, rules: [] }),
  })
  rmSync(path.join(folder, 'environments.json'))
  writeFileSync(path.join(folder, 'link-platforms.json'), '[{')
  assert.throws(
    () => loadTaxonomy(folder),
    (error: Error) => {
      for (const part of [
        /games\.json\.0\.slug/,
        /additional properties \(extra\)/,
        /report-types\.json: must be array/,
        /code-host\.json\.token_prefixes\.0: /,
        /client-programs\.json\.0: must have required properties contains/,
        /file-rules\.json: File rules: \/rules/,
      ])
        assert.match(error.message, part)
      assert.match(error.message, /environments\.json: ENOENT/)
      assert.match(error.message, /link-platforms\.json: /)
      return true
    },
  )
})

test('links to launchers have a scheme of the launcher, a place for the URL and known types', () => {
  const [launcher] = launchers
  const wrong: [object, RegExp][] = [
    [{ link: 'javascript:alert(1)//{url}' }, /launchers\.json: the link of .+ must have the scheme of a launcher/],
    [{ link: 'https://example.org/{url}' }, /must have the scheme of a launcher/],
    [{ link: 'launcher://import' }, /launchers\.json\.0\.link: must match pattern/],
    [{ link: 'launcher://import?url={url}" onclick="' }, /launchers\.json\.0\.link: must match pattern/],
    [{ project_types: ['mod', 'game'] }, /launchers\.json: unknown project type game/],
  ]
  for (const [fields, error] of wrong) {
    const folder = changed({ 'launchers.json': () => [{ ...launcher, ...fields }] })
    assert.throws(() => loadTaxonomy(folder), error)
  }
  const older = changed({})
  rmSync(path.join(older, 'launchers.json'))
  assert.deepEqual(loadTaxonomy(older).launchers, [])
})

test('duplicates and references to what does not exist are errors', () => {
  const folder = changed({
    'loaders.json': (rows) => [...rows, { ...rows[0], games: ['chess'], fields: ['colour'], project_types: ['skin'] }],
    'categories.json': (rows) => [...rows, { ...rows[0], project_type: 'skin' }, { ...rows[0] }],
    'loader-fields.json': (rows) => [
      ...rows,
      { name: 'a', type: 'enum', optional: true, created: '2024-99-01T00:00:00.000Z' },
      {
        name: 'b',
        type: 'integer',
        optional: false,
        default: 'x',
        min: 2,
        max: 1,
        created: '2024-01-01T00:00:00.000Z',
      },
      { ...rows[2], name: 'c', default: 'nowhere' },
    ],
    'environments.json': (rows) => [...rows, rows[0]],
  })
  assert.throws(
    () => loadTaxonomy(folder),
    (error: Error) => {
      const expected = [
        'loaders.json: fabric is named twice',
        'loaders.json: fabric: unknown game chess',
        'loaders.json: fabric: unknown field colour',
        'loaders.json: fabric: unknown project type skin',
        'categories.json: adventure: unknown project type skin',
        'categories.json: adventure of mod is named twice',
        'loader-fields.json: a: an enumeration needs a file of values',
        'loader-fields.json: a: created is not a date',
        'loader-fields.json: b: min is above max',
        'loader-fields.json: b: only an optional enumeration has a default',
        'loader-fields.json: c: default nowhere is not among its values',
        'environments.json: client_and_server is named twice',
      ]
      for (const line of expected) assert.ok(error.message.includes(line), line)
      return true
    },
  )
})
