// Files of the site for programs: feeds, site map, search description, previews.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
let project: MadeProject
before(async () => {
  t = await testApp()
  owner = await t.make.account({ username: 'maker' })
  project = await t.make.project({ owner, slug: 'lamp', name: 'Lamp & <b>Co</b>' })
  await t.make.version({ project, version_number: '1.0', changelog: 'It <i>began</i>.\u0007' })
  await t.make.project({ owner, slug: 'hidden-lamp', name: 'Hidden', status: 'draft' })
  await t.searchable()
})
after(() => t?.close())

test('each list has feeds that are well-formed for any user text and contain nothing hidden', async () => {
  for (const path of ['/mods', '/search', '/mod/lamp/versions', '/user/maker']) {
    const atom = await t.anyone.get(`${path}.atom`)
    assert.equal(atom.statusCode, 200, path)
    assert.match(String(atom.headers['content-type']), /^application\/atom\+xml/)
    assert.match(atom.body, /Lamp &amp; &lt;b&gt;Co&lt;\/b&gt;/)
    assert.doesNotMatch(atom.body, /Hidden|<b>/)
    assert.ok(!atom.body.includes('\u0007'), path)
    const json = await t.anyone.get(`${path}.json`)
    assert.equal(json.json().items.length, 1, path)
    assert.equal(json.json().version, 'https://jsonfeed.org/version/1.1')
  }
  for (const path of [
    '/user/nobody.atom',
    '/organization/none.json',
    '/collection/none.atom',
    '/mod/none/versions.atom',
    '/mod/hidden-lamp/versions.atom',
  ])
    assert.equal((await t.anyone.get(path)).statusCode, 404, path)
  const own = await visitor(t, owner.token).get('/mod/hidden-lamp/versions.json')
  assert.deepEqual([own.statusCode, own.headers['cache-control']], [200, 'private, no-cache'])
})

test('the site map lists all public pages, in parts by type', async () => {
  const plugin = await t.make.project({ owner, slug: 'lamp-plugin' })
  await t.make.version({ project: plugin, loaders: ['paper'] })
  const both = await t.make.project({ owner, slug: 'lamp-both' })
  await t.make.version({ project: both, loaders: ['fabric', 'paper'] })
  await t.make.project({ owner, slug: 'lamp-bare' })
  await t.searchable()
  const index = await t.anyone.get('/sitemap.xml')
  const parts = [
    ...index.body.matchAll(/<loc>https:\/\/depot\.test(\/[^<]+)<\/loc><lastmod>[\d-]+T[\d:.]+Z<\/lastmod>/g),
  ]
  assert.deepEqual(
    parts.map(([, path]) => path),
    ['/sitemap-pages.xml', '/sitemap-mods-1.xml', '/sitemap-plugins-1.xml', '/sitemap-projects-1.xml'],
  )
  const listed = []
  for (const [, path = ''] of parts) {
    const part = await t.anyone.get(path)
    assert.equal(part.statusCode, 200)
    assert.doesNotMatch(part.body, /hidden/)
    listed.push(...[...part.body.matchAll(/<loc>https:\/\/depot\.test(\/[^<]*)<\/loc>/g)].map(([, found]) => found))
  }
  const projects = ['/mod/lamp', '/mod/lamp-both', '/plugin/lamp-plugin', '/project/lamp-bare']
  for (const path of ['/', '/search', '/mods', ...projects])
    assert.equal(listed.filter((found) => found === path).length, 1, path)
  for (const name of ['mods-0', 'mods-2', 'mods', 'pages-1', 'x-1', '1', 'mods-99999', 'shaders-1'])
    assert.equal((await t.anyone.get(`/sitemap-${name}.xml`)).statusCode, 404, name)
  assert.match((await t.anyone.get('/robots.txt')).body, /^Sitemap: https:\/\/depot\.test\/sitemap\.xml$/m)
  assert.match((await t.anyone.get('/opensearch.xml')).body, /search\?q=\{searchTerms\}/)
})

test('programs that have a document get 304, by its ETag or by its time', async () => {
  for (const path of [
    '/mods.atom',
    '/mods.json',
    '/mod/lamp/versions.atom',
    '/user/maker.atom',
    '/sitemap.xml',
    '/sitemap-mods-1.xml',
    '/robots.txt',
    '/opensearch.xml',
    '/manifest.webmanifest',
    '/speculation-rules.json',
    '/oembed?url=https://depot.test/mod/lamp',
  ]) {
    const first = await t.anyone.get(path)
    const { etag, 'last-modified': modified } = first.headers
    assert.equal(first.statusCode, 200, path)
    assert.match(String(etag), /^"/, path)
    const again = (headers: Record<string, string>) => t.anyone.get(path, { headers })
    for (const headers of [{ 'if-none-match': String(etag) }, { 'if-modified-since': String(modified) }]) {
      const known = await again(headers)
      assert.deepEqual([known.statusCode, known.body], [304, ''], path)
    }
    const times = ['Thu, 01 Jan 1970 00:00:00 GMT', 'nonsense', '']
    for (const time of times) assert.equal((await again({ 'if-modified-since': time })).statusCode, 200, path)
    const other = { 'if-none-match': '"other"', 'if-modified-since': String(modified) }
    assert.equal((await again(other)).statusCode, 200, path)
  }
  await t.make.version({ project, version_number: '1.1', date_published: new Date(t.deps.now() + 60_000) })
  t.deps.cache.clear()
  const later = await t.anyone.get('/mod/lamp/versions.atom', {
    headers: { 'if-modified-since': new Date(t.deps.now()).toUTCString() },
  })
  assert.equal(later.statusCode, 200)
})

test('a project can be embedded by its address, and says what it is to machines', async () => {
  const embedded = await t.anyone.get('/oembed', { query: { url: 'https://depot.test/mod/lamp' } })
  assert.deepEqual([embedded.json().type, embedded.json().title], ['link', 'Lamp & <b>Co</b>'])
  for (const url of [
    '',
    'x',
    'https://elsewhere.test/mod/lamp',
    'https://depot.test/mod/hidden-lamp',
    'https://depot.test/mod/%zz',
  ])
    assert.ok([400, 404].includes((await t.anyone.get('/oembed', { query: { url } })).statusCode), url)
  const card = embedded.json()
  assert.equal(card.thumbnail_url, `https://depot.test/card/${project.id}.png`)
  assert.deepEqual([card.thumbnail_width, card.thumbnail_height], [1200, 630])
  const url = 'https://depot.test/mod/lamp/versions?page=2'
  const embed = (query: Record<string, string>) => t.anyone.get('/oembed', { query: { url, ...query } })
  assert.deepEqual(
    [(await embed({})).json().author_name, (await embed({})).json().author_url],
    ['maker', 'https://depot.test/user/maker'],
  )
  assert.match((await embed({ format: 'xml' })).body, /<title>Lamp &amp; &lt;b&gt;Co&lt;\/b&gt;<\/title>/)
  assert.equal((await embed({ maxwidth: '1199' })).json().thumbnail_url, undefined)
  for (const query of [{ format: 'yaml' }, { maxwidth: '-1' }, { maxheight: 'x' }])
    assert.equal((await embed(query as Record<string, string>)).statusCode, 400)
  const page = (await visitor(t).get('/mod/lamp')).body
  assert.match(page, /<link rel="canonical" href="https:\/\/depot\.test\/mod\/lamp">/)
  assert.match(page, /"@type":"SoftwareApplication"/)
  assert.match(page, /property="og:title"/)
  const [, announced = ''] = /<link rel="alternate" type="application\/json\+oembed" href="([^"]+)"/.exec(page) ?? []
  const announcement = new URL(announced.replaceAll('&amp;', '&'))
  assert.equal((await t.anyone.get(`${announcement.pathname}${announcement.search}`)).json().title, 'Lamp & <b>Co</b>')
  assert.match((await visitor(t).get('/mods?c=magic')).body, /name="robots" content="noindex"/)
})

test('users, organizations, collections and packs can be embedded, and errors are JSON', async () => {
  const embed = async (path: string, status = 200) => {
    const answer = await t.anyone.get('/oembed', { query: { url: `https://depot.test${path}` } })
    assert.equal(answer.statusCode, status, `${path}: ${answer.body}`)
    assert.match(String(answer.headers['content-type']), /^application\/json/)
    return answer.json()
  }
  assert.equal((await embed('/user/maker')).title, 'maker')
  const organization = await t
    .as(owner)
    .post('/v3/organization', { name: 'Lamp makers', slug: 'lamps', description: 'They make lamps' })
  assert.ok(organization.statusCode < 300, organization.body)
  assert.equal((await embed('/organization/lamps')).title, 'Lamp makers')
  const made = (await t.as(owner).post('/v3/collection', { name: 'Lights', projects: [project.id] })).json()
  const { title, author_name } = await embed(`/collection/${made.id}`)
  assert.deepEqual([title, author_name], ['Lights', 'maker'])
  assert.match((await visitor(t).get(`/collection/${made.id}`)).body, /application\/json\+oembed/)
  const moderator = await t.make.account({ role: 'moderator' })
  assert.equal((await t.as(moderator).patch(`/v3/collection/${made.id}`, { status: 'private' })).statusCode, 204)
  for (const path of [`/collection/${made.id}`, '/collection/x', '/user/nobody', '/pack/maker/none', '/mods', '/'])
    assert.equal((await embed(path, 404)).error, 'not_found', path)
  assert.equal((await embed('/mod/%zz', 400)).error, 'invalid_input')
})

test('each public project has a card, which is drawn once and again after a change of its content', async () => {
  const head = (await visitor(t).get('/mod/lamp')).body
  const path = `/card/${project.id}.png`
  assert.ok(head.includes(`<meta property="og:image" content="https://depot.test${path}">`))
  assert.match(head, /property="og:image:width" content="1200"/)
  const icon = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#d22' } })
    .png()
    .toBuffer()
  const [first, together] = await Promise.all([t.anyone.get(path), t.anyone.get(path)])
  assert.equal(first.headers['content-type'], 'image/png')
  assert.equal(first.headers['cache-control'], 'public, max-age=0, must-revalidate')
  assert.deepEqual(together.rawPayload, first.rawPayload)
  assert.equal((await sharp(first.rawPayload).metadata()).width, 1200)
  const asked = { headers: { 'if-none-match': String(first.headers.etag) } }
  assert.equal((await t.anyone.get(path, asked)).statusCode, 304)
  const sent = await t
    .as(owner)
    .patch(`/v3/project/${project.id}/icon?ext=png`, icon, { headers: { 'content-type': 'image/png' } })
  assert.equal(sent.statusCode, 204, sent.body)
  const second = await t.anyone.get(path, asked)
  assert.equal(second.statusCode, 200)
  assert.notDeepEqual(second.rawPayload, first.rawPayload)
})

test('a hidden project has no card, and a card has only one URL', async () => {
  const { id } = (await t.as(owner).get('/v3/project/hidden-lamp')).json()
  for (const path of [`/card/${id}.png`, '/card/lamp.png', '/card/AAAAAAAA.png', '/card/..%2Fx.png', '/card/x.jpg'])
    for (const someone of [visitor(t), visitor(t, owner.token)]) assert.equal((await someone.get(path)).statusCode, 404)
  assert.doesNotMatch((await visitor(t, owner.token).get('/project/hidden-lamp')).body, /og:image/)
})

test('heads announce both formats of each feed, which answer', async () => {
  for (const path of ['/', '/mods?c=magic', '/mod/lamp', '/user/maker']) {
    const { body } = await visitor(t).get(path)
    const feeds = [...body.matchAll(/<link rel="alternate" type="application\/(atom|feed)\+\w+" href="([^"]+)"/g)]
    // Profiles have a feed of projects and one of releases.
    const expected = ['atom', 'feed', ...(path.startsWith('/user/') ? ['atom', 'feed'] : [])]
    assert.deepEqual(
      feeds.map(([, type]) => type),
      expected,
      path,
    )
    for (const [, , href = ''] of feeds) {
      const { pathname, search } = new URL(href.replaceAll('&amp;', '&'))
      assert.equal((await t.anyone.get(`${pathname}${search}`)).statusCode, 200, href)
    }
  }
})

test('public pages name the rules for prefetching, which match public pages only', async () => {
  for (const path of ['/', '/mods', '/mod/lamp', '/mod/lamp', '/user/maker']) {
    const { headers } = await visitor(t).get(path)
    assert.equal(headers['speculation-rules'], '"/speculation-rules.json"', path)
  }
  const answer = await t.anyone.get('/speculation-rules.json')
  assert.match(String(answer.headers['content-type']), /^application\/speculationrules\+json/)
  const [{ where, eagerness }] = answer.json().prefetch
  assert.equal(eagerness, 'moderate')
  const [likely, { not: unlikely }] = where.and
  const matches = (patterns: string[], path: string) =>
    patterns.some((pattern) => new URLPattern(pattern, 'https://depot.test').test(path, 'https://depot.test'))
  const isPrefetched = (path: string) => matches(likely.href_matches, path) && !matches(unlikely.href_matches, path)
  for (const path of ['/', '/mods', '/mods?c=magic', '/search?q=a', '/mod/lamp', '/mod/lamp/versions', '/user/maker'])
    assert.ok(isPrefetched(path), path)
  for (const path of [
    '/account',
    '/account/sign-in?return=%2Fmods',
    '/dashboard',
    '/operator/users',
    '/mods.atom',
    '/mod/lamp/versions.atom',
    '/mod/lamp/settings/general',
    '/mod/lamp/save',
    '/mod/lamp/statistics.csv',
    '/v3/project/lamp',
    '/data/AAAAAAAA/versions/AAAAAAAA/lamp.jar',
    '/report?item=project&id=AAAAAAAA',
  ])
    assert.ok(!isPrefetched(path), path)
})

/** The rules that the makers of chat programs document for previews of links. */
test('a link to a project has a preview in chat programs', async () => {
  const page = await t.anyone.get('/mod/lamp', { headers: { accept: '*/*', 'user-agent': 'Twitterbot/1.0' } })
  const head = page.body.slice(0, page.body.indexOf('</head>'))
  // Slack reads the first 32 KB of a page.
  assert.ok(Buffer.byteLength(head) < 32 * 1024, `${head.length}`)
  const meta = new Map(
    [...head.matchAll(/<meta (?:property|name)="([^"]+)" content="([^"]*)">/g)].map(([, k, v]) => [k, v]),
  )
  assert.equal(meta.get('twitter:card'), 'summary_large_image')
  for (const name of ['og:title', 'og:type', 'og:url', 'og:site_name', 'og:description', 'og:image:alt'])
    assert.ok((meta.get(name) ?? '').length > 0, name)
  assert.equal(meta.get('og:url'), 'https://depot.test/mod/lamp')
  // Discord cuts titles at 256 and descriptions at 350 characters.
  assert.ok((meta.get('og:title') ?? '').length <= 256)
  const image = new URL(meta.get('og:image') ?? '')
  assert.equal(image.protocol, 'https:')
  const card = await t.anyone.get(image.pathname, { headers: { 'user-agent': 'facebookexternalhit/1.1' } })
  assert.equal(card.headers['content-type'], meta.get('og:image:type'))
  // WhatsApp shows images up to 300 KB, X and Facebook need a width of at least 600 pixels for a large preview.
  assert.ok(card.rawPayload.length < 300 * 1024, `${card.rawPayload.length}`)
  const { width = 0, height = 1 } = await sharp(card.rawPayload).metadata()
  assert.deepEqual([String(width), String(height)], [meta.get('og:image:width'), meta.get('og:image:height')])
  assert.ok(width >= 600 && width / height < 2, `${width}x${height}`)
  assert.doesNotMatch((await t.anyone.get('/robots.txt')).body, /Disallow: \/(?:card|mod|data|$)/m)
})

test('programs that show previews of links get the home page, other programs its JSON', async () => {
  const home = async (agent: string, accept = '*/*') =>
    String((await t.anyone.get('/', { headers: { accept, 'user-agent': agent } })).headers['content-type'])
  for (const agent of [
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
    'TelegramBot (like TwitterBot)',
    'WhatsApp/2.23.20.0',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  ])
    assert.match(await home(agent), /html/, agent)
  assert.match(await home('Discordbot/2.0', 'application/json'), /json/)
  assert.match(await home('curl/8.0'), /json/)
})

/** Properties that https://schema.org defines for each type. */
const SCHEMA: Readonly<Record<string, readonly string[]>> = {
  SoftwareApplication: [
    ...[
      'name',
      'description',
      'url',
      'image',
      'datePublished',
      'dateModified',
      'offers',
      'interactionStatistic',
      'isPartOf',
    ],
    ...['applicationCategory', 'operatingSystem', 'softwareVersion', 'softwareRequirements', 'downloadUrl', 'fileSize'],
    'releaseNotes',
  ],
  Offer: ['price', 'priceCurrency'],
  InteractionCounter: ['interactionType', 'userInteractionCount'],
  BreadcrumbList: ['itemListElement'],
  ListItem: ['position', 'name', 'item'],
}

function assertSchema(value: unknown): void {
  if (Array.isArray(value)) return value.forEach(assertSchema)
  if (typeof value !== 'object' || value === null) return
  const { '@context': _, '@type': type, ...properties } = value as Record<string, unknown>
  const known = SCHEMA[String(type)]
  assert.ok(known !== undefined, String(type))
  for (const [name, property] of Object.entries(properties)) {
    assert.ok(known.includes(name), `${type}.${name}`)
    assertSchema(property)
  }
}

test('projects and versions have structured data of schema.org, whatever their texts', async () => {
  const version = await t.make.version({ project, version_number: '3.0', changelog: '</script><!--' })
  await t.make.file({ version, project, bytes: Buffer.from('structured'), filename: 'lamp.jar' })
  for (const [path, name] of [
    ['/mod/lamp', 'Lamp & <b>Co</b>'],
    ['/mod/lamp/version/3.0', 'Lamp & <b>Co</b> 3.0'],
  ] as const) {
    const { body } = await visitor(t).get(path)
    const scripts = [...body.matchAll(/<script type="application\/ld\+json">(.*?)<\/script>/g)].map(([, text = '']) =>
      JSON.parse(text),
    )
    assertSchema(scripts)
    const [software, crumbs] = scripts
    assert.deepEqual(
      [software['@type'], software.name, crumbs['@type']],
      ['SoftwareApplication', name, 'BreadcrumbList'],
    )
    const places = crumbs.itemListElement.map(({ position }: { position: number }) => position)
    assert.deepEqual(
      places,
      [...places.keys()].map((index) => index + 1),
    )
    assert.ok(!Number.isNaN(Date.parse(software.datePublished)), path)
  }
})
