import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SourceFiles } from '#lib/text/urls-in-text.ts'
import { assertValidHtml, samplePage } from '#test/support/http/html-page.ts'
import { html } from '../html.ts'
import { DEFAULT_LANGUAGE, languageOf } from '../languages.ts'
import { layout } from '../layout.ts'
import { createMarkdown } from './markdown.ts'

const OURS = 'https://cdn.depot.test'
const errors: Error[] = []
const markdown = createMarkdown({
  imageOrigins: [OURS],
  filesUrl: `${OURS}/files`,
  videoStyle: '/assets/video.css',
  icons: '/assets/icons.svg',
  onError: (error) => errors.push(error),
})
after(() => markdown.close())

async function rendered(text: string, source?: SourceFiles | null): Promise<string> {
  const markup = String(await markdown.render(text, DEFAULT_LANGUAGE, { source }))
  assert.deepEqual(errors, [])
  return markup.replace(/^<div class="prose" dir="auto">([\s\S]*)<\/div>$/, '$1').trim()
}

const HOSTILE = [
  '<script>alert(1)</script>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<img src=x onerror=alert(1)>',
  `<img src="${OURS}/x.png" onload="alert(1)" style="position:fixed;inset:0">`,
  '<svg onload=alert(1)><script>alert(1)</script></svg>',
  '<svg><style><img src=x onerror=alert(1)></style></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=alert(1)&gt;">',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<iframe src="https://www.youtube.com.evil.test/embed/abcdefghijk"></iframe>',
  '<object data="data:text/html,<script>alert(1)</script>"></object><embed src="x">',
  '<form action="https://evil.test"><input name="password" autofocus onfocus=alert(1)><button>x</button></form>',
  '<div style="position:fixed;inset:0;background:url(https://evil.test/x)">x</div>',
  '<style>body{display:none}</style><link rel="stylesheet" href="https://evil.test/x.css">',
  '<meta http-equiv="refresh" content="0;url=https://evil.test"><base href="https://evil.test/">',
  '[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x)',
  '<a href="java&#10;script:alert(1)">a</a><a href="&#x6a;avascript:alert(1)">b</a><a href=" javascript:alert(1)">c</a>',
  '<a href="https://a.test" target="_blank" onclick="alert(1)" ping="https://evil.test">a</a>',
  '![x](https://evil.test/pixel.png) ![y](//evil.test/pixel.png) ![z](data:image/svg+xml,x)',
  '<picture><source srcset="https://evil.test/a.png 1x, https://evil.test/b.png 2x"><img src="https://evil.test/c.png"></picture>',
  `<picture><source srcset="${OURS}/a.png, https://evil.test/b.png 2x"><img src="${OURS}/c.png"></picture>`,
  '<video src="https://evil.test/v" autoplay><audio src="https://evil.test/a">',
  '<h1 id="content" class="note bad" name="body">x</h1><a id="errors" name="__proto__">x</a>',
  '<details ontoggle=alert(1) open><summary onclick=alert(1)>x</summary></details>',
  '<table background="https://evil.test/x"><td background="https://evil.test/x" style="color:red">x</td></table>',
  '<custom-element onclick=alert(1)>x</custom-element><template><img src=x onerror=alert(1)></template>',
  '```"><img/src=x/onerror=alert(1)>\nx\n```',
  '```java" onmouseover="alert(1)\n</code></pre><script>alert(1)</script>\n```',
  '<!--><script>alert(1)</script>--><![CDATA[<script>alert(1)</script>]]><?x <script>alert(1)</script>?>',
  '[x]: javascript:alert(1)\n\n[x] <javascript:alert(1)>',
  '</div></main><div class="foot">x</div><blockquote>x',
  '<a href="#content">x</a><p id="a b">x</p><p id="">x</p>',
  '<li><td><summary>x',
]

/** Checks with a separate parser that user markup contains only harmless elements and attributes. */
function assertHarmless(markup: string, what: string): void {
  const tags = [...markup.matchAll(/<\/?([a-z0-9-]+)((?:\s[^>]*)?)>/gi)]
  for (const [tag, name = '', rest = ''] of tags) {
    assert.ok(
      !/^(script|style|iframe|object|embed|form|input|button|svg|math|link|meta|base|video|audio|template|noscript)$/i.test(
        name,
      ),
      `${what}: ${tag}`,
    )
    for (const [, attribute = '', value = ''] of rest.matchAll(/([^\s=/"]+)(?:="([^"]*)")?/g)) {
      assert.ok(!/^(on|style|srcdoc|target|ping|background|name)/i.test(attribute), `${what}: ${tag}`)
      if (attribute === 'src' || attribute === 'srcset')
        assert.ok(value.startsWith(`${OURS}/`) && !value.includes('evil'), `${what}: ${tag}`)
      if (attribute === 'href') assert.match(value, /^(https?:|mailto:|#text-|\/|[a-z0-9_.?-]+$)/i, `${what}: ${tag}`)
      if (attribute === 'id') assert.match(value, /^text-/, `${what}: ${tag}`)
      if (attribute === 'class')
        assert.match(
          value,
          /^(task|done|outside|video|scroll|tick|align-\w+|language-\S+|tok-\S+|[a-z]+_+|\s)+$/,
          `${what}: ${tag}`,
        )
    }
  }
  assert.ok(!/<(?![a-z/])/i.test(markup), `${what}: ${markup}`)
}

test('user content cannot run code, load external resources, imitate the page or leave its element', async () => {
  for (const text of [...HOSTILE, HOSTILE.join('\n\n'), HOSTILE.join('')]) {
    const markup = await rendered(text)
    assertHarmless(markup, text)
    const opened = markup.match(/<div\b/g)?.length ?? 0
    assert.equal(markup.match(/<\/div>/g)?.length ?? 0, opened, text)
  }
})

test('headings begin at level 2, skip no level and have unique IDs', async () => {
  const markup = await rendered('### Über *uns*\n\n# Top\n\n#### Deep\n\n## Top\n\n<h6 id="x">Own</h6>\n\n[up](#top)')
  assert.deepEqual(markup.match(/<h\d[^>]*>/g), [
    '<h2 id="text-über-uns">',
    '<h2 id="text-top">',
    '<h3 id="text-deep">',
    '<h3 id="text-top-1">',
    '<h4 id="text-x">',
  ])
  assert.match(markup, /href="#text-top"/)
})

test('links are marked as user content, and external images become links', async () => {
  assert.equal(
    await rendered('[a](https://a.test/)'),
    '<p><a href="https://a.test/" rel="nofollow ugc noopener">a</a></p>',
  )
  assert.match(
    await rendered('![A view](https://img.test/a.png)'),
    /<a href="https:\/\/img\.test\/a\.png"[^>]*>A view \(img\.test\)<\/a>/,
  )
  assert.match(
    await rendered(`![A view](${OURS}/a.png)`),
    /<img src="https:\/\/cdn\.depot\.test\/a\.png" alt="A view" loading="lazy" \/>/,
  )
  assert.match(await rendered('![A view](/data/a.png)'), /<img src="https:\/\/cdn\.depot\.test\/files\/data\/a\.png"/)
  assert.doesNotMatch(await rendered('![A view](/user/a.png)'), /<img/)
  assert.match(
    await rendered(
      '<iframe width="560" src="https://www.youtube-nocookie.com/embed/abcdefghijk?x=1" title="Tour"></iframe>',
    ),
    /<a href="https:\/\/www\.youtube\.com\/watch\?v=abcdefghijk"[^>]*><span>Tour \(youtube\.com\)<\/span><\/a>/,
  )
})

test('alerts, footnotes, emoji names and aligned tables', async () => {
  const alert = await rendered('> [!WARNING]\n> Back up **first**.\n>\n> > quoted\n\nAfter')
  assert.match(
    alert,
    /^<link [^>]*><div class="note warn" role="note" aria-label="Warning"><svg class="i" aria-hidden="true"><use href="\/assets\/icons\.svg#warning"\/><\/svg><div><p><strong>Warning<\/strong><\/p>\s*<p>Back up <strong>first<\/strong>\.<\/p>\s*<blockquote>[\s\S]*<\/blockquote>\s*<\/div><\/div>\s*<p>After<\/p>$/,
  )
  assert.match(await rendered('> [!note]\n> x'), /class="note h255" role="note" aria-label="Note"/)
  assert.match(await rendered('> [!OTHER]\n> x'), /^<blockquote>/)
  assert.match(await rendered('> [!NOTE] not alone'), /^<blockquote>/)
  const notes = await rendered('Light[^1] and[^1] more.\n\n[^1]: By a *lamp*.')
  assert.match(notes, /<sup><a href="#text-fn1" rel="[^"]*" id="text-fnref1">|<a href="#text-fn1"[^>]*>/)
  assert.deepEqual(notes.match(/\[[\d:]+\]/g), ['[1]', '[1]'])
  assert.match(notes, /<li id="text-fn1"[^>]*>[\s\S]*By a <em>lamp<\/em>/)
  assert.equal(await rendered(':sparkles: :) `:sparkles:`'), '<p>✨ :) <code>:sparkles:</code></p>')
  assert.match(await rendered('| a |\n|--:|\n| 1 |'), /<td class="align-right">1<\/td>/)
})

test('relative links lead to files of the repository, or nowhere', async () => {
  const source = { page: 'https://code.test/o/r/blob/HEAD/', raw: 'https://raw.test/o/r/HEAD/' }
  const written =
    '[a](docs/setup.md#part) ![b](./img/b.png?raw=true) [c](../up.md) [d](/mod/x) [e](#f) [g](https://g.test/)'
  assert.equal(
    (await rendered(written, source)).replaceAll(' rel="nofollow ugc noopener"', ''),
    '<p><a href="https://code.test/o/r/blob/HEAD/docs/setup.md#part">a</a> ' +
      '<a href="https://raw.test/o/r/HEAD/img/b.png" class="outside">b (raw.test)</a> ' +
      '<span data-nowhere="../up.md">c</span> <a href="/mod/x">d</a> <a href="#text-f">e</a> <a href="https://g.test/">g</a></p>',
  )
  const nowhere = await rendered(written, null)
  assert.deepEqual(
    [...nowhere.matchAll(/data-nowhere="([^"]*)"/g)].map(([, target]) => target),
    ['docs/setup.md#part', './img/b.png?raw=true', '../up.md'],
  )
  for (const target of ['a/../../b', '%2e%2e/b', 'a%2f..%2f..%2fb', '..\\b', '\\\\evil.test/b', 'https:', '?x', ''])
    assert.match(
      await rendered(`<a href="${target}">x</a>`, source),
      /<span data-nowhere(?:="[^"]*")?>x<\/span>/,
      target,
    )
  assert.doesNotMatch(await rendered('<span data-nowhere="x">y</span>', source), /data-nowhere/)
  for (const text of HOSTILE) assertHarmless((await rendered(text, source)).replace(/ data-nowhere="[^"]*"/g, ''), text)
})

test('blocks of texts with right-to-left scripts have the direction of their first letter', async () => {
  assert.equal(
    await rendered('# \u05e9\u05dc\u05d5\u05dd\n\nHello\n\n- **\u0645\u0631\u062d\u0628\u0627** x\n- y'),
    '<h2 id="text-\u05e9\u05dc\u05d5\u05dd" dir="rtl">\u05e9\u05dc\u05d5\u05dd</h2>\n<p dir="ltr">Hello</p>\n' +
      '<ul dir="rtl">\n<li dir="rtl"><strong>\u0645\u0631\u062d\u0628\u0627</strong> x</li>\n<li dir="ltr">y</li>\n</ul>',
  )
  assert.match(await rendered('<p dir="ltr">\u05d0</p>'), /^<p dir="ltr">/)
})

test('spoilers are hidden until they have the focus', async () => {
  assert.equal(
    await rendered('It was ||the *butler*||.'),
    '<link rel="stylesheet" href="/assets/video.css"><p>It was <span class="spoiler" tabindex="0" role="group" aria-label="Spoiler">the <em>butler</em></span>.</p>',
  )
  assert.equal(await rendered('a || b || c, `||d||` and |e| ||'), '<p>a || b || c, <code>||d||</code> and |e| ||</p>')
  assert.match(await rendered('a || b ||c||'), /<p>a \|\| b <span class="spoiler"[^>]*>c<\/span><\/p>$/)
})

test('a link to a video alone in a paragraph, and an embedded player, become a card', async () => {
  const player = async (text: string) =>
    / data-video="([^"]*)"/.exec(await rendered(text))?.[1]?.replaceAll('&amp;', '&')
  const youtube = 'https://www.youtube-nocookie.com/embed/abcdefghijk?autoplay=1'
  for (const url of [
    'https://www.youtube.com/watch?v=abcdefghijk&t=3',
    'https://youtu.be/abcdefghijk?si=x',
    'http://m.youtube.com/watch?v=abcdefghijk',
    'https://youtube.com/shorts/abcdefghijk',
  ]) {
    assert.equal(await player(`Before\n\n${url}\n\nAfter`), youtube, url)
    assert.equal(await player(`[Tour](${url})`), youtube, url)
  }
  const vimeo = 'https://player.vimeo.com/video/123456?dnt=1&autoplay=1'
  assert.equal(await player('https://vimeo.com/123456'), vimeo)
  assert.equal(await player('https://vimeo.com/123456/abcdef12'), `${vimeo}&h=abcdef12`)
  assert.equal(
    await player('<iframe src="//player.vimeo.com/video/123456?h=abcdef12"></iframe>'),
    `${vimeo}&h=abcdef12`,
  )
  const shown = await rendered('[A **tour**](https://youtu.be/abcdefghijk)')
  assert.match(shown, /<link rel="stylesheet" href="\/assets\/video\.css">/)
  assert.match(shown, /<span>A tour \(youtube\.com\)<\/span>/)
  const thumbnail = await rendered(
    '[![A "tour"](https://img.youtube.com/vi/abcdefghijk/0.jpg)](https://youtu.be/abcdefghijk)',
  )
  assert.match(thumbnail, /data-video="[^"]*"><span>A "tour" \(youtube\.com\)/)
  for (const text of [
    'See https://youtu.be/abcdefghijk here',
    'https://youtu.be/abcdefghijk1',
    'https://youtube.com.example/watch?v=abcdefghijk',
    'https://www.youtube.com/playlist?list=abcdefghijk',
    'https://vimeo.com/channels/x',
    '<a href="https://example.org" data-video="https://player.vimeo.com/video/1">x</a>',
    '<iframe src="https://example.org/embed/abcdefghijk"></iframe>',
    '<a href="https://a.example"><iframe src="https://www.youtube.com/embed/abcdefghijk"></iframe></a>',
  ])
    assert.equal(await player(text), undefined, text)
})

/** Texts as authors write them: badges, linked images of both kinds, HTML in Markdown, and mistakes. */
const READMES = [
  `# Lantern\n\n[![Build](https://ci.example/b.svg)](https://ci.example/lantern) [![Chat](${OURS}/chat.png)](https://chat.example)`,
  '<p align="center"><a href="https://lantern.example"><img src="https://img.example/logo.png" alt="Lantern" width="200"></a></p>',
  '<a href="https://a.example"><img src="https://img.example/x.png"><b>Text</b> <a href="https://b.example">inner</a></a> after',
  '[**Wiki** ![icon](https://img.example/i.png) more](https://wiki.example "Wiki")',
  '<a href="https://video.example"><iframe src="https://www.youtube.com/embed/abcdefghijk" title="Trailer"></iframe></a>',
  '| [![a](https://i.example/a.png)](https://t.example) | b |\n|---|:-:|\n| [c](https://c.example) ![d](https://i.example/d.png) | e |',
  '<a href="https://open.example">never closed\n\n[link](https://later.example) ![x](https://i.example/x.png)\n\n- [l](https://list.example)',
  '<details><summary><a href="https://s.example">![y](https://i.example/y.png)</a></summary>\n\n[![z](https://i.example/z.png)](https://z.example)\n</details>',
]

test('a linked image keeps its link, and no link contains a link', async () => {
  for (const text of READMES) {
    const markup = await rendered(text)
    let depth = 0
    for (const [tag] of markup.matchAll(/<\/?a[\s>]/g)) {
      depth += tag.startsWith('</') ? -1 : 1
      assert.ok(depth >= 0 && depth <= 1, `${text}\n${markup}`)
    }
    assertHarmless(markup, text)
  }
  const [badges = '', centred = '', nested = ''] = READMES
  assert.match(await rendered(badges), /<a href="https:\/\/ci\.example\/lantern"[^>]*><span>Build<\/span><\/a>/)
  assert.match(await rendered(badges), /<a href="https:\/\/chat\.example"[^>]*><img /)
  assert.match(
    await rendered(centred),
    /class="align-center"><a href="https:\/\/lantern\.example"[^>]*><span>Lantern<\/span><\/a>/,
  )
  assert.match(await rendered(nested), /<b>Text<\/b> <span>inner<\/span><\/a> after/)
})

test('tables and code can be scrolled by keyboard, lists of tasks are read out, code has its words in classes', async () => {
  assert.match(
    await rendered('|a|b|\n|-|-:|\n|1|2|'),
    /<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>[\s\S]*<td class="align-right">2<\/td>/,
  )
  assert.match(
    await rendered('```toml\nradius = 12\n```'),
    /<pre tabindex="0" role="group" aria-label="Code"><code class="language-toml"><span class="tok-attr">radius<\/span>/,
  )
  assert.match(
    await rendered('- [x] a\n- [ ] b'),
    /aria-label="Done"><\/span>a<\/li>\n<li class="task"><span class="tick" role="img" aria-label="Not done"><\/span>b/,
  )
  const german = languageOf('de') ?? assert.fail()
  assert.match(String(await markdown.render('- [x] a', german)), /aria-label="Erledigt"/)
  assert.match(await rendered('```nonsense\n<b>\n```'), /<code class="language-nonsense">&lt;b&gt;\n<\/code>/)
})

test('the output of the sanitizer is valid HTML in a page', async () => {
  const text = [
    '# A',
    '- [x] b',
    '|a|\n|-|\n|1|',
    '```json\n{"a": 1}\n```',
    `![c](${OURS}/c.png)`,
    '> d\n\n1. e',
    '<kbd>f</kbd> <sup>g</sup>',
    '<details><summary>h</summary>\n\ni\n\n</details>',
    '<center>j</center>',
    'https://k.test',
  ].join('\n\n')
  const body = html`<h1>x</h1>${await markdown.render(text, DEFAULT_LANGUAGE)}`
  assertValidHtml(layout(samplePage(), { title: 'x', body }))
})

test('a text of 64 KB that is made to be slow does not hold up the rest of the process', async () => {
  const fill = (piece: string) => piece.repeat(Math.ceil(65_536 / piece.length)).slice(0, 65_536)
  const table = `|${'a|'.repeat(2000)}\n|${'-|'.repeat(2000)}\n${'x\n'.repeat(20_000)}`
  const nested = Array.from({ length: 400 }, (_, depth) => `${'  '.repeat(depth)}- x`).join('\n')
  let turns = 0
  for (const text of [
    nested,
    fill('- '),
    fill('> - '),
    fill('*a _b '),
    fill('![[]()'),
    fill('||a ||'),
    fill('||a'),
    fill('<p>\u05d0'),
    fill('<b>'),
    fill('a@b.co '),
    table,
  ]) {
    let isDone = false
    const asked = markdown.render(text, DEFAULT_LANGUAGE).finally(() => {
      isDone = true
    })
    while (!isDone) {
      await nextTurn()
      turns += 1
    }
    await asked
  }
  // Were the work done here, the loop would turn once or twice for each text.
  assert.ok(turns > 200, String(turns))
  assert.deepEqual(errors, [])
})

test('a text that cannot be rendered is shown as it was written, and the operator learns of it', async () => {
  const seen: string[] = []
  const closed = createMarkdown({
    imageOrigins: [],
    filesUrl: OURS,
    videoStyle: '/x.css',
    icons: '/x.svg',
    onError: ({ message }) => seen.push(message),
  })
  const asked = closed.render('**a** <b>', DEFAULT_LANGUAGE)
  await closed.close()
  assert.equal(String(await asked), '<div class="prose plain" dir="auto">**a** &lt;b&gt;</div>')
  assert.match(seen.join(), /closing|did not respond/)
  assert.equal(String(await closed.render(' \n', DEFAULT_LANGUAGE)), '')
  await closed.close()
})
