import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_DOCUMENT_BYTES } from '#ports/search-index/document.ts'
import { loadTaxonomy } from '#taxonomy/taxonomy.ts'
import type { DocumentRow, VersionRow } from './document-rows.ts'
import { documentBasis, toSearchDocument } from './search-document.ts'

const { taxonomy } = loadTaxonomy()
const DAY = Date.UTC(2024, 0, 1)

const makeRow = (fields: Partial<DocumentRow> = {}): DocumentRow => ({
  id: 'aaaaaaaa',
  slug: 'kettle',
  name: 'Kettle',
  summary: 'Boils.',
  license: 'MIT',
  categories: [],
  other_names: [],
  additional_categories: [],
  downloads: 0,
  followers: 0,
  icon_url: null,
  color: null,
  created: new Date(DAY),
  updated: new Date(DAY),
  author: 'mira',
  author_id: 'bbbbbbbb',
  organization: null,
  organization_id: null,
  gallery: null,
  versions: null,
  dependencies: null,
  ...fields,
})
const makeVersion = (id: string, loaders: string[], fields: Record<string, unknown>): VersionRow => [
  id,
  'listed',
  DAY,
  null,
  loaders,
  fields,
]

test('a content pack is listed under the loaders inside it, and under its own loader', () => {
  const versions = [
    makeVersion('pack0001', ['mrpack'], { game_versions: ['1.20.1'], mrpack_loaders: ['quilt', 'fabric'] }),
    makeVersion('pack0002', ['mrpack'], { game_versions: ['1.20.1'] }),
  ]
  const document = toSearchDocument(makeRow({ versions }), taxonomy)
  assert.deepEqual(
    document.versions.map(({ loaders, categories, project_types }) => [loaders, categories, project_types]),
    [
      [['mrpack'], ['fabric', 'quilt'], ['modpack']],
      [['mrpack'], ['mrpack'], ['modpack']],
    ],
  )
})

test('field values are texts, in the order of the taxonomy over all versions, and sides follow from them', () => {
  const versions = [
    makeVersion('v0000001', ['fabric'], {
      game_versions: ['1.20.2', '1.8'],
      environment: 'client_only',
      singleplayer: true,
    }),
    makeVersion('v0000002', ['fabric'], { game_versions: ['1.20.1'], environment: 'server_only' }),
  ]
  const { fields, versions: shown } = toSearchDocument(makeRow({ versions }), taxonomy)
  assert.deepEqual(fields, {
    environment: ['client_only', 'server_only'],
    game_versions: ['1.8', '1.20.1', '1.20.2'],
    singleplayer: ['true'],
  })
  assert.deepEqual(
    shown.map((version) => [version.fields['client_side'], version.fields['server_side']]),
    [
      [['required'], ['unsupported']],
      [['required'], ['unsupported']],
    ],
  )
})

test('the sides of a project with several types follow from the first version with an environment', () => {
  const fabric = makeVersion('v0000001', ['fabric'], { game_versions: ['1.20.1'], environment: 'client_only' })
  const older = makeVersion('v0000002', ['fabric'], { game_versions: ['1.20.1'], environment: 'server_only' })
  const paper = makeVersion('v0000003', ['paper'], { game_versions: ['1.20.1'], environment: 'client_or_server' })
  const sidesOf = (versions: VersionRow[]) =>
    toSearchDocument(makeRow({ versions }), taxonomy).versions.map(({ fields }) =>
      [fields['client_side'], fields['server_side']].flat().join(' '),
    )
  assert.deepEqual(sidesOf([paper, fabric, older]), Array(3).fill('required unsupported'))
  assert.deepEqual(sidesOf([paper]), ['unsupported required'])
  assert.deepEqual(sidesOf([paper, makeVersion('v0000004', ['datapack'], {})]), Array(2).fill('unknown unknown'))
})

test('categories, primary ones apart, and the first licence of an expression', () => {
  const row = makeRow({
    categories: ['mobs', 'magic'],
    additional_categories: ['library', 'magic'],
    license: '(Apache-2.0 OR LicenseRef-Own) AND MIT',
  })
  const document = toSearchDocument(row, taxonomy)
  assert.deepEqual(
    [document.categories, document.display_categories, document.license, document.open_source],
    [['magic', 'mobs', 'library'], ['magic', 'mobs'], 'Apache-2.0', true],
  )
})

test('of a project too large for the index the oldest versions are left out', () => {
  const game_versions = Array.from({ length: 200 }, (_, i) => `1.${i}.${'9'.repeat(20)}`)
  const versions = Array.from({ length: 2000 }, (_, i) => makeVersion(`v${i}`, ['fabric'], { game_versions }))
  const document = toSearchDocument(makeRow({ versions }), taxonomy)
  assert.ok(document.versions.length >= 250 && document.versions.length < 2000)
  assert.deepEqual([document.versions[0]?.id, JSON.stringify(document).length < MAX_DOCUMENT_BYTES], ['v0', true])
})

test('another taxonomy is another basis, the same one is the same', () => {
  const { loaders, fields } = taxonomy
  const without = new Map([...loaders].slice(1))
  assert.equal(documentBasis(taxonomy), documentBasis({ ...taxonomy }))
  assert.notEqual(documentBasis({ ...taxonomy, loaders: without }), documentBasis(taxonomy))
  assert.notEqual(documentBasis({ ...taxonomy, fields: new Map([...fields].slice(1)) }), documentBasis(taxonomy))
})
