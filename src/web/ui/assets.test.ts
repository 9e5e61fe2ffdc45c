import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { test } from 'node:test'
import { Script } from 'node:vm'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { loadAssets } from './assets.ts'
import { HUES } from './hues.ts'
import { ICON_NAMES, WORK_ICON_NAMES } from './icons.ts'

const assets = loadAssets()
const text = (name: Parameters<typeof assets.get>[0]) => String(assets.get(name)?.bytes)

test('style, script and fonts keep their weight', async () => {
  const weight = async (name: Parameters<typeof assets.get>[0]) => {
    const { bytes, encode } = assets.get(name) ?? assert.fail(name)
    return ((await encode?.('br')) ?? bytes).length
  }
  const [style, script] = [await weight('site.css'), await weight('site.js')]
  assert.ok(style <= 9.5 * 1024, `style: ${style}`)
  assert.ok(script <= 8 * 1024, `script: ${script}`)
  const second = await weight('work.js')
  assert.ok(second <= 12 * 1024, `scripts of the pages for publishers: ${second}`)
  assert.ok((await weight('pack.js')) <= 1024)
  assert.ok((await weight('account.js')) <= 1.5 * 1024)
  const editor = await weight('editor.js')
  assert.ok(editor <= 4 * 1024, `script of the editor: ${editor}`)
  assert.ok((await weight('gallery.js')) <= 1024)
  const work = await weight('work.css')
  assert.ok(work <= 7.5 * 1024, `style of the pages for publishers: ${work}`)
  assert.ok((await weight('hyperlegible.woff2')) <= 36 * 1024)
})

test('nothing moves for visitors who prefer reduced motion', () => {
  const moves = /(?:transition|animation)[a-z-]*: ?(?!none)|@view-transition|scroll-behavior: ?smooth/g
  for (const sheet of ['site.css', 'work.css'] as const) {
    const guarded = text(sheet)
      .split('@media (prefers-reduced-motion: no-preference)')
      .map((part, index) => (index === 0 ? part : part.slice(endOfBlock(part))))
      .join('')
    assert.deepEqual(guarded.match(moves), null, sheet)
    if (sheet === 'site.css') assert.match(text(sheet), moves)
  }
  for (const script of ['site.js', 'work.js'] as const)
    assert.doesNotMatch(text(script), /startViewTransition|\.animate\(|behavior: 'smooth'/)
})

/** Returns the end of the block in braces at the start of a text. */
function endOfBlock(text: string): number {
  let depth = 0
  for (const { 0: brace, index } of text.matchAll(/[{}]/g)) {
    depth += brace === '{' ? 1 : -1
    if (depth === 0) return index + 1
  }
  return assert.fail('an open block')
}

test('each joined script is complete and can be parsed', () => {
  for (const [name, end] of [
    ['site.js', /requestSubmit/],
    ['work.js', /beforeunload/],
    ['pack.js', /localStorage/],
    ['account.js', /navigator\.credentials/],
    ['editor.js', /createImageBitmap/],
    ['gallery.js', /showModal/],
  ] as const) {
    const script = text(name)
    assert.doesNotMatch(script, /^(import|export) /m)
    assert.match(script, end)
    new Script(script)
  }
})

test('names hold the hash of the content, and every encoding is of the same bytes and made once', async () => {
  for (const { path, bytes, encode } of assets.values()) {
    assert.match(path, /^\/assets\/[a-z-]+\.[0-9a-f]{12}\.(css|js|svg|woff2)$/)
    assert.equal(encode === undefined, path.endsWith('.woff2'))
    if (encode === undefined) continue
    const [first, again] = await Promise.all([encode('br'), encode('br')])
    assert.equal(first, again)
    assert.deepEqual(brotliDecompressSync(first), bytes)
    assert.deepEqual(gunzipSync(await encode('gzip')), bytes)
  }
})

test('the style loads nothing but fonts that are there, and no rule names a side', () => {
  const style = text('site.css') + text('work.css')
  const loaded = [...style.matchAll(/url\(([^)]*)\)/g)].map(([, name]) => name)
  const names = [...assets.values()].map(({ path }) => basename(path))
  assert.equal(loaded.length, 2)
  assert.ok(loaded.every((name) => name !== undefined && names.includes(name)))
  const sided = style.match(
    /[;{](?:(?:margin|padding|border)-(?:left|right)[a-z-]*|left|right|float|text-align:(?:left|right))[:;]/g,
  )
  assert.deepEqual(sided, null)
  assert.ok(!style.includes('!important'))
  assert.equal(style.split('{').length, style.split('}').length)
})

test('the style has the class of every hue, with the derived colours', () => {
  const style = text('site.css')
  const [derived = ''] = style.match(/:root,\.h0,[^{]*(?=\{--tint-wash:)/) ?? []
  assert.equal(HUES.length, 24)
  for (const hue of HUES) {
    assert.ok(style.includes(`.h${hue}{--hue:${hue}}`), `h${hue}`)
    assert.ok(derived.split(',').includes(`.h${hue}`), `h${hue}`)
  }
})

test('the sprites contain exactly the icons of pages, each once', () => {
  const symbolsIn = (sprite: 'icons.svg' | 'work-icons.svg') =>
    [...text(sprite).matchAll(/<symbol id="([a-z-]+)"/g)].map(([, name]) => name)
  assert.deepEqual(symbolsIn('icons.svg').toSorted(), [...ICON_NAMES].toSorted())
  assert.deepEqual(symbolsIn('work-icons.svg').toSorted(), [...WORK_ICON_NAMES].toSorted())
  assert.equal(new Set([...ICON_NAMES, ...WORK_ICON_NAMES]).size, ICON_NAMES.length + WORK_ICON_NAMES.length)
})
