import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { checkLoaderFields } from './loader-fields.ts'
import { type LoaderField, loadTaxonomy, sortFieldValues, type Taxonomy } from './taxonomy.ts'

const DEFAULT_SET = path.join(import.meta.dirname, '../../taxonomy')
const { taxonomy } = loadTaxonomy()
const created = '2024-01-01T00:00:00.000Z'

/** The default set with one more optional field on one loader. */
function withField(field: Partial<LoaderField> & Pick<LoaderField, 'name' | 'type'>): Taxonomy {
  const loader = taxonomy.loaders.get('datapack')
  assert.ok(loader)
  const fields = [...loader.fields, field.name]
  return {
    ...taxonomy,
    loaders: new Map(taxonomy.loaders).set('datapack', { ...loader, fields }),
    fields: new Map(taxonomy.fields).set(field.name, { optional: true, created, ...field }),
  }
}

/** Returns the stored value of an extra field for a version with the extended loader. */
function extraField(set: Taxonomy, name: string, value: unknown): unknown {
  return checkLoaderFields(set, ['datapack'], { game_versions: ['1.20'], [name]: value })[name]
}

function refuses(set: Taxonomy, loaders: string[], input: Record<string, unknown>, field: string, at = ''): void {
  assert.throws(
    () => checkLoaderFields(set, loaders, input, at),
    (error: { kind: string; details: { field: string } }) => {
      assert.equal(error.kind, 'validation_error')
      assert.equal(error.details.field, field)
      return true
    },
  )
}

test('game_versions is mandatory with at least one known value, environment defaults to unknown', () => {
  assert.deepEqual(checkLoaderFields(taxonomy, ['fabric'], { game_versions: ['1.20.1', '1.20.1', '1.20'] }), {
    game_versions: ['1.20.1', '1.20'],
    environment: 'unknown',
  })
  assert.deepEqual(checkLoaderFields(taxonomy, ['paper'], { game_versions: ['1.20.1'] }), { game_versions: ['1.20.1'] })
  refuses(taxonomy, ['fabric'], {}, 'game_versions')
  refuses(taxonomy, ['fabric'], { game_versions: null }, 'game_versions')
  refuses(taxonomy, ['fabric'], { game_versions: [] }, 'game_versions')
  refuses(taxonomy, ['fabric'], { game_versions: '1.20.1' }, 'game_versions')
  refuses(taxonomy, ['fabric'], { game_versions: ['1.20.1', '1.20.99'] }, 'game_versions.1')
  refuses(taxonomy, ['fabric'], { game_versions: [1.2] }, 'game_versions.0')
  refuses(taxonomy, ['fabric'], { game_versions: Array(1025).fill('1.20') }, 'game_versions')
})

test('a field that no loader of the version supports is rejected, one that any supports is accepted', () => {
  const game_versions = ['1.20.1']
  refuses(taxonomy, ['fabric'], { game_versions, mrpack_loaders: ['forge'] }, 'mrpack_loaders')
  refuses(taxonomy, ['paper'], { game_versions, environment: 'server_only' }, 'environment')
  refuses(taxonomy, ['fabric'], { game_versions, colour: 1 }, 'colour')
  const accepted = { game_versions, mrpack_loaders: [], environment: 'server_only' }
  assert.deepEqual(checkLoaderFields(taxonomy, ['paper', 'mrpack'], accepted), accepted)
})

test('the four booleans of mod loaders take true and false only', () => {
  const game_versions = ['1.20.1']
  const accepted = { game_versions, environment: 'client_only', singleplayer: false, client_only: true }
  assert.deepEqual(checkLoaderFields(taxonomy, ['quilt'], accepted), accepted)
  for (const value of [0, 'true', []])
    refuses(taxonomy, ['quilt'], { game_versions, singleplayer: value }, 'singleplayer')
})

test('errors carry the path of the object that holds the fields', () => {
  refuses(taxonomy, ['fabric'], {}, 'initial_versions.2.game_versions', 'initial_versions.2')
  const bad = { game_versions: ['x'] }
  refuses(taxonomy, ['fabric'], bad, 'initial_versions.2.game_versions.0', 'initial_versions.2')
})

test("keys of JavaScript's own objects are ignored", () => {
  const input = JSON.parse('{"game_versions": ["1.20"], "__proto__": {"x": 1}, "constructor": 1}') as object
  assert.deepEqual(checkLoaderFields(taxonomy, ['paper'], { ...input }), { game_versions: ['1.20'] })
  assert.deepEqual(checkLoaderFields(taxonomy, ['paper'], input as Record<string, unknown>), {
    game_versions: ['1.20'],
  })
})

test('an integer keeps its limits, and 32 bits without them', () => {
  const bounded = withField({ name: 'n', type: 'integer', min: -1, max: 3 })
  const check = (set: Taxonomy, n: unknown) => extraField(set, 'n', n)
  assert.equal(check(bounded, -1), -1)
  assert.equal(check(bounded, 3), 3)
  for (const n of [-2, 4, 1.5, '1', true]) assert.throws(() => check(bounded, n), { kind: 'validation_error' })
  const free = withField({ name: 'n', type: 'integer' })
  assert.equal(check(free, 2 ** 31 - 1), 2 ** 31 - 1)
  for (const n of [2 ** 31, -(2 ** 31) - 1]) assert.throws(() => check(free, n), { kind: 'validation_error' })
})

test('a text is neither empty, nor longer than 2048 characters, nor unstorable', () => {
  const set = withField({ name: 't', type: 'text' })
  const check = (t: unknown) => extraField(set, 't', t)
  assert.equal(check('x'.repeat(2048)), 'x'.repeat(2048))
  for (const t of ['', 'x'.repeat(2049), 'a\0', '\ud800', 1])
    assert.throws(() => check(t), { kind: 'validation_error' })
})

test('lists of integers, texts and booleans check each item and the length', () => {
  const check = (type: LoaderField['type'], list: unknown) =>
    extraField(withField({ name: 'l', type, min: 1, max: 2 }), 'l', list)
  assert.deepEqual(check('array_text', ['a', 'b']), ['a', 'b'])
  assert.deepEqual(check('array_boolean', [true, true]), [true, true])
  assert.deepEqual(check('array_integer', [1, 2]), [1, 2])
  for (const type of ['array_text', 'array_boolean', 'array_integer'] as const) {
    const item = { array_text: 'a', array_boolean: true, array_integer: 1 }[type]
    assert.throws(() => check(type, []), { kind: 'validation_error' })
    assert.throws(() => check(type, [item, item, item]), { kind: 'validation_error' })
    assert.throws(() => check(type, [item, {}]), { message: /l\.1/ })
  }
})

test('aggregated values come without an ordering first, then by it, then oldest first; unknown ones last', () => {
  assert.deepEqual(sortFieldValues(taxonomy, 'game_versions', ['1.20.5', 'zz', '1.20.1', '1.20.2', '1.20.1']), [
    '1.20.1',
    '1.20.2',
    '1.20.5',
    'zz',
  ])
  const folder = mkdtempSync(path.join(tmpdir(), 'depot-taxonomy-'))
  try {
    cpSync(DEFAULT_SET, folder, { recursive: true })
    const rows = [{ value: 'late', ordering: 100 }, { value: 'unknown' }, { value: 'early', ordering: -1 }]
    const text = JSON.stringify(rows.map((row) => ({ created, ...row })))
    writeFileSync(path.join(folder, 'environments.json'), text)
    const own = loadTaxonomy(folder).taxonomy
    assert.deepEqual(sortFieldValues(own, 'environment', ['late', 'early', 'unknown']), ['unknown', 'early', 'late'])
    assert.deepEqual([...(own.fields.get('environment')?.enumValues?.keys() ?? [])], ['early', 'late', 'unknown'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
