import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertValidHtml, samplePage } from '#test/support/http/html-page.ts'
import { html } from './html.ts'
import { layout } from './layout.ts'
import { breadcrumbs, emptyState, note, pager, segments, tabs } from './parts/lists.ts'

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>' </title></script><!--`

function full(page = samplePage()): string {
  return layout(page, {
    title: `A page ${HOSTILE}`,
    description: HOSTILE,
    canonical: '/mod/x',
    isUnlisted: true,
    openGraph: {
      type: 'article',
      image: { type: 'image/png', url: 'https://depot.test/x.png', alt: HOSTILE, width: 1, height: 1 },
    },
    structuredData: [{ '@type': 'SoftwareApplication', name: HOSTILE }],
    feeds: [{ path: '/x.atom', title: HOSTILE, type: 'application/atom+xml' }],
    previous: '/p?page=1',
    next: '/p?page=3',
    className: 'page',
    body: html`${breadcrumbs(page, [{ href: '/mods', label: HOSTILE }])}<h1>${HOSTILE}</h1>
${tabs(page, 'Views', [{ href: '/a', label: HOSTILE, icon: 'box', count: 1204, isCurrent: true }])}
${segments('Period', [{ href: '?d=30', label: '30 days', isCurrent: true }])}
${note(page, 'warn', HOSTILE)}${emptyState(page, { icon: 'search', title: HOSTILE, text: HOSTILE })}
${pager(page, { current: 6, last: 61, href: (number) => `?page=${number}` })}`,
  })
}

test('a complete page is valid HTML for any user content, in every language', () => {
  const account = { username: HOSTILE, avatar_url: null, role: 'developer' as const }
  for (const tag of ['en', 'de', 'ar-XB'] as const) {
    for (const page of [samplePage({ tag }), samplePage({ tag, account, theme: 'dark', address: HOSTILE })]) {
      const document = full(page)
      assertValidHtml(document, tag)
      assert.ok(!document.includes('<script>alert') && !document.includes('<img src=x'), document)
      assert.equal(document.match(/<\/script>/g)?.length, 2)
    }
  }
})

test('the frame says language, direction and theme, and links below the path of the public address', () => {
  const german = full(samplePage({ tag: 'de', theme: 'dark' }))
  assert.match(german, /^<!doctype html>\n<html lang="de" data-theme="dark">/)
  assert.match(german, /Zum Inhalt springen/)
  assert.match(full(samplePage({ tag: 'ar-XB' })), /<html lang="ar-XB" dir="rtl">/)
  for (const [, path] of german.matchAll(
    /<(?:link rel="(?:stylesheet|icon)"|script|form|use)[^>]* (?:href|src|action)="([^"]+)"/g,
  ))
    assert.ok(path?.startsWith('/base/'), path)
  assert.match(german, /<link rel="canonical" href="https:\/\/depot\.test\/base\/mod\/x">/)
})

test('a rejected form has an error in the page title', () => {
  const page = samplePage()
  assert.match(
    layout(page, { title: 'Profile', body: html``, hasErrors: true }),
    /<title>Error: Profile · Depot<\/title>/,
  )
})

test('the search and what the operator links to are in the frame where they exist', () => {
  const { site } = samplePage()
  const link = { path: '/new', label: () => 'Publish', icon: 'plus' as const }
  const page = samplePage({
    site: {
      ...site,
      search: { action: '/search', suggestions: '/suggestions', projectCount: 1873 },
      navigation: [link],
      footer: [link],
    },
  })
  const document = layout(page, { title: 'x', body: html`<h1>x</h1>` })
  assertValidHtml(document)
  assert.match(document, /placeholder="Search 1,873 projects"/)
  assert.equal(document.match(/href="\/base\/new"/g)?.length, 2)
  assert.ok(!full().includes('class="find"'))
})

test('data for machines cannot end its element, and is what was given', () => {
  const json = /<script type="application\/ld\+json">([\s\S]*?)<\/script>/.exec(full())?.[1] ?? assert.fail()
  assert.deepEqual(JSON.parse(json), {
    '@context': 'https://schema.org',
    '@type': 'SoftwareApplication',
    name: HOSTILE,
  })
})

test('a pager shows the first, last and nearby pages, and nothing for one page', () => {
  const page = samplePage()
  const shown = (current: number, last: number) =>
    String(pager(page, { current, last, href: (number) => `?page=${number}` }))
      .replace(/<[^>]*>/g, ' ')
      .split(/\s+/)
      .filter(Boolean)
      .join(' ')
  assert.equal(pager(page, { current: 1, last: 1, href: () => '' }), null)
  assert.equal(shown(1, 2), '1 2 Next')
  assert.equal(shown(30, 61), 'Previous 1 … 28 29 30 31 32 … 61 Next')
  assert.equal(shown(61, 61), 'Previous 1 … 59 60 61')
})
