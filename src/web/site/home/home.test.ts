// The home page: what it shows to whom, and how it leads on in an instance without projects.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { updateSettings } from '#features/basics/settings/update-settings.ts'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { aDownload, times } from '#test/support/factories/analytics-events.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { visitor } from '#test/support/http/visitor.ts'

let t: TestApp
let owner: Person
before(async () => {
  t = await testApp()
  t.freeze()
  owner = await t.make.account()
})
after(() => t?.close())

const home = async (who = visitor(t)): Promise<string> => {
  const { body, statusCode } = await who.get('/')
  assert.equal(statusCode, 200)
  assertValidHtml(body)
  return body
}
const section = (body: string, name: string): string =>
  new RegExp(`aria-labelledby="by-${name}"[\\s\\S]*?</section>`).exec(body)?.[0] ?? ''
const linksIn = (text: string): string[] =>
  [...text.matchAll(/href="(\/(?:mod|project|resourcepack)\/[^"]+)"/g)].map(([, path]) => path ?? '')

async function made(slug: string, by: Person, weeks: readonly number[] = []): Promise<MadeProject> {
  const project = await t.make.project({ owner: by, slug, name: slug })
  const version = await t.make.version({ project, loaders: ['fabric'], version_number: '1.0' })
  const midnight = Math.floor(t.deps.now() / DAY_MS) * DAY_MS
  for (const [index, count] of weeks.entries()) {
    // In the middle of the week, because the tests can advance the clock to the next day.
    const recorded_at = midnight - (weeks.length - index) * 7 * DAY_MS + 3 * DAY_MS
    times(count, () =>
      t.deps.events.add('download', aDownload({ project_id: project.id, version_id: version.id, recorded_at })),
    )
  }
  return project
}

test('an instance without projects leads its operator on, and tells visitors what they can do', async () => {
  const visited = await home()
  assert.match(visited, /Nothing has been published yet/)
  assert.match(visited, /the link that the server shows when it starts in a terminal/)
  assert.match(visited, /href="\/new\/project"/)
  assert.doesNotMatch(visited, /href="\/operator/)
  const admin = await t.make.account({ role: 'admin' })
  const operated = await home(visitor(t, admin.token))
  for (const path of ['/operator/first-steps', '/operator/settings', '/operator/invitations', '/new/project'])
    assert.ok(operated.includes(`href="${path}"`), path)
  // With an admin, the operator signs in. The page is cached for a second.
  t.advance(1000)
  assert.match(await home(), /href="\/account\/sign-in\?return=%2Foperator%2Ffirst-steps"/)
})

test('trending projects are by different people, in the order of the growth against their own past', async () => {
  const other = await t.make.account()
  await made('large', other, [300, 300, 300, 300, 390])
  await made('first', owner, [10, 10, 10, 10, 90])
  await made('second', owner, [10, 10, 10, 10, 80])
  await t.deps.events.flush()
  await t.searchable()
  // The list of trending projects is an hour old, from before the projects.
  t.deps.cache.clear()
  const rising = linksIn(section(await home(), 'rising'))
  assert.deepEqual(rising, ['/mod/first', '/mod/large'])
})

test('new releases fit the setup of the visitor', async () => {
  const project = await made('lantern', owner)
  t.advance(HOUR_MS)
  await t.make.version({ project, loaders: ['forge'], version_number: '2.0-forge' })
  await t.searchable()
  assert.ok(linksIn(section(await home(), 'releases')).includes('/mod/lantern/version/2.0-forge'))
  const chosen = visitor(t)
  await chosen.send('/', '/setup', { loader: 'fabric', return: '/' })
  const body = await home(chosen)
  const links = linksIn(section(body, 'releases'))
  assert.ok(links.includes('/mod/lantern/version/1.0'), String(links))
  assert.ok(!links.includes('/mod/lantern/version/2.0-forge'))
  assert.match(section(body, 'releases'), /New releases for Fabric/)
})

test('every list names only projects of which one version fits the whole setup', async () => {
  const person = await t.make.account()
  const fits = await made('fits', person, [10, 10, 10, 10, 90])
  const mixed = await made('mixed', await t.make.account(), [10, 10, 10, 10, 90])
  for (const [project, loader] of [
    [fits, 'fabric'],
    [mixed, 'forge'],
  ] as const)
    await t.make.version({ project, loaders: [loader], game_versions: ['1.21'], version_number: '2.0' })
  await t.deps.events.flush()
  t.advance(HOUR_MS)
  await t.searchable()
  t.deps.cache.clear()
  const visited = visitor(t)
  visited.cookies.set('__Host-depot-setup', encodeURIComponent('1.21|fabric'))
  const body = await home(visited)
  for (const name of ['rising', 'newest', 'releases']) {
    const links = linksIn(section(body, name)).map((path) => path.split('/')[2])
    assert.ok(links.includes('fits'), `${name}: ${links}`)
    assert.ok(!links.includes('mixed'), `${name}: ${links}`)
  }
  assert.ok(!linksIn(body).some((path) => path.startsWith('/mod/mixed')))
})

test('a signed-in visitor sees the releases of followed projects, nobody else does', async () => {
  const fan = await t.make.account()
  const signedIn = visitor(t, fan.token)
  assert.match(section(await home(signedIn), 'followed'), /Follow projects to find their new versions here/)
  assert.equal((await t.as(fan).post('/v3/project/lantern/follow')).statusCode, 204)
  assert.deepEqual(linksIn(section(await home(signedIn), 'followed')), ['/mod/lantern/version/2.0-forge'])
  assert.equal(section(await home(), 'followed'), '')
})

test('collections show owner, cover and the number of public projects', async () => {
  const project = await made('boats', owner)
  const hidden = await t.make.project({ owner, slug: 'hidden', status: 'processing' })
  const answer = await t.as(owner).post('/v3/collection', { name: 'On water', projects: [project.id, hidden.id] })
  assert.equal(answer.statusCode, 201, answer.body)
  t.advance(1000)
  const shown = /<section class="home-collections"[\s\S]*?<\/section>/.exec(await home())?.[0] ?? ''
  assert.match(shown, /On water/)
  assert.match(shown, /One project/)
  assert.ok(shown.includes(`href="/user/${owner.username}"`))
})

test('the header offers to publish, and to sign up unless that is closed', async () => {
  const body = await home()
  assert.match(body, /<a href="\/dashboard\/publish">/)
  assert.match(body, /href="\/account\/sign-up\?return=%2F"/)
  await updateSettings(t.deps, COMMAND, { registration: 'closed' })
  assert.doesNotMatch(await home(), /sign-up/)
  await updateSettings(t.deps, COMMAND, { registration: null })
})

test('operators choose heading, text and sections; their texts are shown as text', async () => {
  await t.searchable()
  const before = await home()
  for (const name of ['rising', 'downloads', 'newest', 'releases', 'collections'])
    assert.ok(before.includes(`aria-labelledby="by-${name}"`), name)
  const [home_heading, home_text] = ['Lanterns & boats', '<script>alert(1)</script>']
  await updateSettings(t.deps, COMMAND, { home_heading, home_text, home_sections: ['newest', 'trending'] })
  const themed = await home()
  assert.match(themed, /<h1 dir="auto">Lanterns &amp; boats<\/h1>/)
  assert.match(themed, /<p class="soft" dir="auto">&lt;script&gt;alert\(1\)&lt;\/script&gt;<\/p>/)
  for (const name of ['rising', 'newest']) assert.ok(themed.includes(`aria-labelledby="by-${name}"`), name)
  for (const name of ['downloads', 'releases', 'collections']) assert.equal(section(themed, name), '', name)
  await updateSettings(t.deps, COMMAND, { home_sections: [] })
  assert.doesNotMatch(await home(), /aria-labelledby="by-/)
  await updateSettings(t.deps, COMMAND, { home_heading: null, home_text: null, home_sections: null })
  assert.equal(await home(), before)
})
