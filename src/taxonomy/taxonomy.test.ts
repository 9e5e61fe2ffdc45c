import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import * as tags from './taxonomy.ts'

const DEFAULT_SET = path.join(import.meta.dirname, '../../taxonomy')
const taxonomy = tags.loadTaxonomy(DEFAULT_SET)
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

test("the default set holds the specification's categories under the agreed headers", () => {
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
    [...new Set(tags.categoryTags(taxonomy).flatMap((tag) => (tag.project_type === type ? [tag.header] : [])))].sort()
  assert.deepEqual(headers('mod'), ['categories'])
  assert.deepEqual(headers('shader'), ['categories', 'features', 'performance'])
  assert.deepEqual(headers('resourcepack'), ['categories', 'features', 'resolutions'])
})

test('loaders are listed A-Z with what they support', () => {
  const list = tags.loaderTags(taxonomy)
  assert.equal(list.length, 29)
  assert.deepEqual(
    list.map((tag) => tag.name),
    list.map((tag) => tag.name).sort(),
  )
  const velocity = list.find((tag) => tag.name === 'velocity')
  assert.deepEqual(velocity?.supported_project_types, ['plugin'])
  assert.deepEqual(velocity.metadata, { platform: true })
  const mod = list.find((tag) => tag.name === 'fabric')
  assert.deepEqual(mod?.supported_fields.slice(0, 3), ['game_versions', 'environment', 'singleplayer'])
  assert.match(mod.icon, /^<svg/)
})

test('categories are listed by ordering, then by name', () => {
  const resolutions = tags.categoryTags(taxonomy).filter((tag) => tag.header === 'resolutions')
  assert.deepEqual(
    resolutions.map((tag) => tag.name),
    ['8x-', '16x', '32x', '48x', '64x', '128x', '256x', '512x-and-higher'],
  )
})

test('the values of game_versions are newest first, with their metadata nested and flat', () => {
  const values = tags.loaderFieldValues(taxonomy, 'game_versions')
  const created = values.map((value) => value.created)
  assert.deepEqual(created, created.toSorted().reverse())
  assert.deepEqual(
    values.find((value) => value.value === '1.21'),
    {
      value: '1.21',
      created: '2024-06-13T12:00:00.000Z',
      metadata: { type: 'release', major: true },
      type: 'release',
      major: true,
      ordering: null,
    },
  )
})

test('filters choose by type and major; a value without metadata never matches', () => {
  const of = (filters: unknown, field = 'game_versions') => tags.loaderFieldValues(taxonomy, field, filters)
  assert.equal(of({ type: 'release' }).length, 95)
  assert.deepEqual(
    of({ type: 'release', major: true })
      .map((value) => value.value)
      .slice(0, 2),
    ['1.21', '1.20'],
  )
  assert.ok(of({ type: 'snapshot' }).length >= 24)
  assert.deepEqual(of({ type: 'release' }, 'environment'), [])
  assert.deepEqual(of({ type: 'nightly' }), [])
  assert.equal(of({}).length, of(undefined).length)
})

test('filters that could only be a typing error are refused', () => {
  for (const filters of [null, [], 'type', { kind: 'release' }, { major: 'true' }, JSON.parse('{"__proto__": 1}')])
    assert.throws(() => tags.loaderFieldValues(taxonomy, 'game_versions', filters), { fault: 'invalid_input' })
})

test('a boolean field answers with true and false, an unknown one is refused', () => {
  assert.deepEqual(
    tags.loaderFieldValues(taxonomy, 'singleplayer').map((value) => value.value),
    ['true', 'false'],
  )
  for (const name of ['nothing', '', '__proto__'])
    assert.throws(() => tags.loaderFieldValues(taxonomy, name), { fault: 'invalid_input' })
})

test('an integer or text field has no list of values, and the answer names its type', () => {
  const extra = { name: 'players', type: 'array_integer', optional: true, created: '2024-01-01T00:00:00.000Z' }
  const folder = changed({ 'loader-fields.json': (rows) => [...rows, extra] })
  assert.throws(() => tags.loaderFieldValues(tags.loadTaxonomy(folder), 'players'), /array_integer/)
})

test('games, platforms, report and project types keep the order of their files', () => {
  assert.deepEqual(tags.gameTags(taxonomy)[0], {
    slug: 'minecraft-java',
    name: 'minecraft-java',
    icon: null,
    banner: null,
  })
  assert.deepEqual(tags.linkPlatformTags(taxonomy)[0], { name: 'patreon', donation: true })
  assert.deepEqual(taxonomy.projectTypes, ['mod', 'modpack', 'plugin', 'datapack', 'resourcepack', 'shader'])
  assert.deepEqual(taxonomy.reportTypes, ['spam', 'copyright', 'inappropriate', 'malicious', 'name-squatting'])
})

test('an unknown loader or category is named with its place, a repeated one counts once', () => {
  assert.deepEqual(tags.checkLoaders(taxonomy, ['forge', 'fabric', 'forge']), ['forge', 'fabric'])
  assert.deepEqual(tags.checkCategories(taxonomy, ['pbr', 'magic', 'pbr']), ['pbr', 'magic'])
  assert.throws(() => tags.checkLoaders(taxonomy, ['forge', 'Forge']), { details: detail('loaders.1') })
  assert.throws(() => tags.checkCategories(taxonomy, ['__proto__'], 'additional_categories'), {
    details: { field: 'additional_categories.0', message: 'is not a known category' },
  })
})

function detail(field: string) {
  return { field, message: 'is not a known loader' }
}

test('project types and games follow from the loaders', () => {
  assert.deepEqual(tags.projectTypesOf(taxonomy, ['velocity', 'fabric', 'gone']), ['mod', 'plugin'])
  assert.deepEqual(tags.gamesOf(taxonomy, ['fabric']), ['minecraft-java'])
  assert.deepEqual(tags.gamesOf(taxonomy, []), [])
})

test('all faults of the data files are reported at once, each with its file and place', () => {
  const folder = changed({
    'games.json': () => [{ slug: 'x y', name: 'x', icon: null, banner: null, extra: 1 }],
    'report-types.json': () => 'spam',
  })
  rmSync(path.join(folder, 'environments.json'))
  writeFileSync(path.join(folder, 'link-platforms.json'), '[{')
  assert.throws(
    () => tags.loadTaxonomy(folder),
    (error: Error) => {
      for (const part of [
        /games\.json\.0\.slug/,
        /additional properties \(extra\)/,
        /report-types\.json: must be array/,
      ])
        assert.match(error.message, part)
      assert.match(error.message, /environments\.json: ENOENT/)
      assert.match(error.message, /link-platforms\.json: /)
      return true
    },
  )
})

test('duplicates and references to what does not exist are faults', () => {
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
    () => tags.loadTaxonomy(folder),
    (error: Error) => {
      const expected = [
        'loaders.json: fabric stands there twice',
        'loaders.json: fabric: unknown game chess',
        'loaders.json: fabric: unknown field colour',
        'loaders.json: fabric: unknown project type skin',
        'categories.json: adventure: unknown project type skin',
        'categories.json: adventure of mod stands there twice',
        'loader-fields.json: a: an enumeration needs a file of values',
        'loader-fields.json: a: created is no date',
        'loader-fields.json: b: min is above max',
        'loader-fields.json: b: only an optional enumeration has a default',
        'loader-fields.json: c: default nowhere is not among its values',
        'environments.json: client_and_server stands there twice',
      ]
      for (const line of expected) assert.ok(error.message.includes(line), line)
      return true
    },
  )
})
