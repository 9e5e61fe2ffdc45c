import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { loadAssets } from './assets.ts'
import { ICON_NAMES } from './icons.ts'

const assets = loadAssets()
const text = (name: Parameters<typeof assets.get>[0]) => String(assets.get(name)?.encodings.identity)

test('style, script and fonts keep their weight', () => {
  const weight = (name: Parameters<typeof assets.get>[0]) => {
    const { br, identity } = assets.get(name)?.encodings ?? assert.fail(name)
    return (br ?? identity).length
  }
  assert.ok(weight('site.css') <= 9 * 1024, `style: ${weight('site.css')}`)
  assert.ok(weight('site.js') <= 6 * 1024, `script: ${weight('site.js')}`)
  assert.ok(weight('hyperlegible.woff2') <= 36 * 1024)
})

test('names hold the hash of the content, and every encoding is of the same bytes', () => {
  for (const { name, encodings } of assets.values()) {
    assert.match(name, /^[a-z-]+\.[0-9a-f]{12}\.(css|js|svg|woff2)$/)
    if (encodings.br !== undefined) assert.deepEqual(brotliDecompressSync(encodings.br), encodings.identity)
    if (encodings.gzip !== undefined) assert.deepEqual(gunzipSync(encodings.gzip), encodings.identity)
  }
})

test('the style loads nothing but fonts that are there, and no rule names a side', () => {
  const style = text('site.css')
  const loaded = [...style.matchAll(/url\(([^)]*)\)/g)].map(([, name]) => name)
  const names = [...assets.values()].map(({ name }) => name)
  assert.equal(loaded.length, 2)
  assert.ok(loaded.every((name) => name !== undefined && names.includes(name)))
  const sided = style.match(
    /[;{](?:(?:margin|padding|border)-(?:left|right)[a-z-]*|left|right|float|text-align:(?:left|right))[:;]/g,
  )
  assert.deepEqual(sided, null)
  assert.ok(!style.includes('!important'))
  assert.equal(style.split('{').length, style.split('}').length)
})

test('the sprite has the icons that pages may name, and no others', () => {
  const symbols = [...text('icons.svg').matchAll(/<symbol id="([a-z-]+)"/g)].map(([, name]) => name)
  assert.deepEqual(symbols.toSorted(), [...ICON_NAMES].toSorted())
})
