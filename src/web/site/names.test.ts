import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isMessageKey, type Language, languageOf } from '#web/ui/languages.ts'
import { tagName, tagNames } from './names.ts'

const language = (tag: string): Language => languageOf(tag) ?? assert.fail(tag)

test('categories have a name in each language, loaders keep their proper names', () => {
  assert.deepEqual(tagNames(language('de'), ['optimization', 'kitchen-sink', 'fabric', 'neoforge', 'datapack']), [
    'Optimierung',
    'Alles dabei',
    'Fabric',
    'NeoForge',
    'Datenpaket',
  ])
  assert.equal(tagName(language('en'), 'worldgen'), 'World generation')
  // Terms that an operator has added.
  for (const tag of ['de', 'en']) assert.equal(tagName(language(tag), 'my-own_term'), 'My own term')
  assert.equal(tagName(language('de'), 'constructor'), 'Constructor')
})

test('every category of the data files has a message; resolutions are numbers', () => {
  const file = new URL('../../../taxonomy/categories.json', import.meta.url)
  const names = (JSON.parse(readFileSync(file, 'utf8')) as { name: string }[]).map(({ name }) => name)
  const unnamed = names.filter((name) => !isMessageKey(`tags.${name}`) && !/^\d+x$/.test(name))
  assert.deepEqual(unnamed, [])
})
