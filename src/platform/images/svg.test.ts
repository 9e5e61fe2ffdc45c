import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '#lib/errors.ts'
import { cleanSvg } from './svg.ts'

const ROOT = '<svg xmlns="http://www.w3.org/2000/svg">'
const clean = (text: string) => cleanSvg(text, 'icon')
const inner = async (text: string) => (await clean(`${ROOT}${text}</svg>`)).slice(ROOT.length, -'</svg>'.length)
const refuses = (text: string, message: RegExp) =>
  assert.rejects(clean(text), (error) => {
    assert.ok(error instanceof ApiError && error.kind === 'invalid_input')
    assert.deepEqual(error.details, { field: 'icon', message: error.message })
    assert.match(error.message, message)
    return true
  })

test('an ordinary drawing keeps its shapes, gradients, styles and texts', async () => {
  const drawing = [
    '<defs><linearGradient id="g"><stop offset="0" stop-color="#f00"/></linearGradient></defs>',
    '<path d="M0 0h1v1z" fill="url(#g)" style="stroke:red;stroke-width:2"/>',
    '<use href="#g" transform="translate(1 2)"/><text x="1">1 &lt; 2 &amp; <tspan>猫</tspan></text>',
  ].join('')
  assert.equal(await inner(drawing), drawing)
  assert.equal(await inner('<style>.a{fill:url(#g)}</style>'), '<style>.a{fill:url(#g)}\n</style>')
  assert.equal(await inner('<style><![CDATA[.a>.b{fill:red}]]></style>'), '<style>.a&gt;.b{fill:red}\n</style>')
})

test('declarations, comments, instructions and a plain document type are left out, old references are renewed', async () => {
  const head =
    '\uFEFF<?xml version="1.0"?>\n<!-- made by hand -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">'
  const text = `${head}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><use xlink:href="#a"/></svg>\n`
  assert.equal(await clean(text), `${ROOT}<use href="#a"/></svg>`)
  assert.equal(await clean('<svg viewBox="0 0 1 1"/>'), '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>')
})

test('removes elements that run, load, embed, link or animate, with their content', async () => {
  const gone = [
    '<script>alert(1)</script>',
    '<script xlink:href="x.js"/>',
    '<SCRIPT>alert(1)</SCRIPT>',
    '<foreignObject><div xmlns="http://www.w3.org/1999/xhtml"><path d=""/></div></foreignObject>',
    '<image href="https://a.example/x.png"/>',
    '<feImage href="https://a.example/x.png"/>',
    '<a href="javascript:alert(1)"><path d="M0 0"/></a>',
    '<set attributeName="href" to="javascript:alert(1)"/>',
    '<animate attributeName="href" values="javascript:alert(1)"/>',
    '<handler type="text/javascript">alert(1)</handler>',
    '<x:script>alert(1)</x:script>',
    '<path xmlns="http://www.w3.org/1999/xhtml" d=""/>',
    '<iframe src="https://a.example"/>',
    '<?xml-stylesheet href="https://a.example/x.css"?>',
  ]
  for (const text of gone) assert.equal(await inner(text), '', text)
})

test('attributes that run or load are left out, whatever their spelling', async () => {
  const gone = [
    'onload="alert(1)"',
    'onclick="alert(1)"',
    'href="https://a.example/x.svg#a"',
    'href="data:image/svg+xml,x"',
    'href="java&#10;script:alert(1)"',
    'xlink:href="//a.example#a"',
    'fill="url(https://a.example/x)"',
    'fill="url(//a.example/x)"',
    'fill="u&#114;l(https:x)"',
    'style="fill:url(\'https:x\')"',
    'style="fill:\\75rl(x)"',
    'style="background:image-set(x)"',
    'style="fill:url(#a)/**/;stroke:url (x)"',
    'style="behavior:x"',
    'style="width:expression(1)"',
    'class="@import"',
    'xml:base="https://a.example/"',
    'data-x="1"',
    'xmlns:x="https://a.example"',
  ]
  for (const attribute of gone) assert.equal(await inner(`<path ${attribute}/>`), '<path/>', attribute)
})

test('a style sheet that could load anything is left out, also in pieces', async () => {
  for (const css of ['@import "x";', '.a{fill:url(x)}', '.a{fill:\\75rl(x)}', '.a{}/* x */', '&lt;/style>'])
    assert.equal(await inner(`<style>${css}</style>`), '<style></style>', css)
  // A line between the pieces keeps the two halves of a word apart.
  assert.equal(await inner('<style>.a{fill:u<!-- -->rl(x)}</style>'), '<style>.a{fill:u\nrl(x)}\n</style>')
})

test('titles and texts contain no markup', async () => {
  const text = '<title>a<style>&lt;/style>&lt;img onerror=x></style></title><desc><path d=""/>b</desc>'
  assert.equal(await inner(text), '<title>a</title><desc>b</desc>')
})

test('entities and document types with definitions are rejected', async () => {
  await refuses(`<!DOCTYPE svg [<!ENTITY a "aaaa">]>${ROOT}</svg>`, /document type with definitions/)
  await refuses(`${ROOT}<!DOCTYPE svg></svg>`, /document type with definitions/)
  await refuses(`${ROOT}<text>&a;</text></svg>`, /entity that XML does not define/)
  for (const reference of ['&#0;', '&#xFFFE;', '&#xD800;', '&#x110000;'])
    await refuses(`${ROOT}<text>${reference}</text></svg>`, /character that XML forbids/)
  await refuses(`${ROOT}<text>&lt</text></svg>`, /unfinished entity/)
})

test('rejects files that are not well-formed or not SVG', async () => {
  for (const text of [
    '',
    'x',
    '<svg',
    '<svg>',
    '<svg></g>',
    '<svg><g></svg></g>',
    '<svg a=b/>',
    '<svg a="1" a="2"/>',
    '<svg a="<"/>',
    '<svg x="1"y="2"/>',
    '<svg/>text',
    '<svg/><svg/>',
    '<html/>',
    '<svg:svg xmlns:svg="http://www.w3.org/2000/svg"/>',
    '<svg xmlns="http://www.w3.org/1999/xhtml"/>',
    '<svg><!-- ',
    '<svg><![CDATA[ ',
    '<svg>\0</svg>',
    '<svg>\ud800</svg>',
    '</svg>',
  ])
    await refuses(text, /^The SVG /)
})

test('size, depth and attributes are bounded', async () => {
  const depth = (n: number) => `${'<g>'.repeat(n)}${'</g>'.repeat(n)}`
  await inner(depth(63))
  await refuses(`${ROOT}${depth(64)}</svg>`, /deeper than 64/)
  await inner('<path/>'.repeat(9999))
  await refuses(`${ROOT}${'<path/>'.repeat(10_000)}</svg>`, /more than 10000 elements/)
  const attributes = Array.from({ length: 65 }, (_, i) => `a${i}="1"`).join(' ')
  await refuses(`<svg ${attributes}/>`, /more than 64 attributes/)
})

test('drawings that multiply or repeat themselves by references are rejected', async () => {
  const layer = (i: number) => `<g id="a${i}">${`<use href="#a${i - 1}"/>`.repeat(10)}</g>`
  const layers = (n: number) =>
    `${ROOT}<g id="a0"><path/></g>${Array.from({ length: n }, (_, i) => layer(i + 1)).join('')}</svg>`
  await clean(layers(3))
  await refuses(layers(8), /more than 100000 elements/)
  await refuses(`${ROOT}<g id="a"><use href="#a"/></g></svg>`, /refers to itself/)
  await refuses(
    `${ROOT}<g id="a"><g><path fill="url(#b)"/></g></g><pattern id="b"><use href="#a"/></pattern></svg>`,
    /itself/,
  )
  const patterns = Array.from(
    { length: 8 },
    (_, i) => `<pattern id="p${i}">${`<path class="c${i}"/>`.repeat(10)}</pattern>`,
  )
  const sheet = Array.from({ length: 8 }, (_, i) => `.c${i}{fill:url(#p${i})}`).join('')
  await refuses(`${ROOT}<style>${sheet}</style>${patterns.join('')}</svg>`, /more than 100000 elements/)
})

test('the usual clip paths and gradients of drawing programs pass', async () => {
  const parts = Array.from(
    { length: 20 },
    (_, i) =>
      `<clipPath id="c${i}"><rect class="b"/></clipPath><linearGradient id="g${i}"><stop/><stop/></linearGradient>`,
  )
  const sheet = Array.from({ length: 20 }, (_, i) => `.c${i}{clip-path:url(#c${i});fill:url(#g${i})}`).join('')
  await inner(`<style>${sheet}</style><defs>${parts.join('')}</defs>${'<path class="c1"/>'.repeat(500)}`)
})

test('cleaning twice changes nothing, and nothing that was not on the lists comes through', async () => {
  const pieces = fc.constantFrom(
    '<g>',
    '</g>',
    '<script>',
    '</script>',
    '<path fill="url(#a)" onload="x"/>',
    '<style>',
    '</style>',
    'a{b:c}',
    '<title>',
    '</title>',
    '&lt;script>',
    '<a href="x">',
    '</a>',
    ' ',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { maxLength: 12 }), async (list) => {
      const first = await clean(`${ROOT}${list.join('')}</svg>`).catch((error: unknown) => {
        assert.ok(error instanceof ApiError)
      })
      if (first === undefined) return
      assert.doesNotMatch(first, /<script|onload|<a |href="x"/)
      assert.equal((await clean(first)).replaceAll('\n', ''), first.replaceAll('\n', ''))
    }),
    { numRuns: 300 },
  )
})

test('the icons of the default taxonomy pass unchanged', async () => {
  for (const file of ['categories.json', 'loaders.json']) {
    const rows = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../../taxonomy', file), 'utf8')) as {
      icon: string
    }[]
    for (const { icon } of rows) assert.equal(await clean(icon), icon)
  }
})
