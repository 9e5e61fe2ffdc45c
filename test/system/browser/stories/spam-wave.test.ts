// A wave of spam on an empty instance: 40 accounts sign up and submit 40 projects. One moderator removes all of it with few
// requests, undoes that, and does it again without scripts. An honest author keeps their project.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page, Request } from 'playwright-core'
import {
  checkAccess,
  checkFits,
  newPerson,
  openSite,
  type Site,
  shoot,
  signIn,
} from '#test/support/browser/chromium.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'
import {
  appointModerator,
  approve,
  firstAdmin,
  makeProject,
  makeToken,
  publish,
  type StoryPerson,
} from '#test/support/story/empty-instance.ts'

const ACCOUNTS = 40
/** Maximum number of documents that the moderator loads, forms included. */
const REQUESTS_MAX = 6
const LIST = '/moderation/users?email_domain=lamps.example&published=no'

let site: Site
let moderator: StoryPerson
let honest: string
const spam: { person: StoryPerson; project: string; collection: string }[] = []

before(async () => {
  site = await openSite({ REQUIRE_VERIFIED_EMAIL: 'false' })
  const { t } = site
  const admin = await firstAdmin(t)
  // The wave comes from one address, which could otherwise create 20 accounts per hour.
  const open = await t.as(admin).patch('/_internal/admin/settings', { sign_ups_per_range: 1000 })
  assert.equal(open.statusCode, 204, open.body)
  moderator = await join('mira', 'example.org')
  await appointModerator(t, admin, moderator)
  const author = await join('hollis', 'example.org')
  honest = await submit(author, 'emberlight')
  await approve(t, author.token, moderator, honest)
  for (let n = 1; n <= ACCOUNTS; n += 1) spam.push(await advertise(n))
})
after(() => site?.close())

async function join(username: string, domain: string): Promise<StoryPerson> {
  const body = { username, email: `${username}@${domain}`, password: PASSWORD }
  const made = await site.t.anyone.post('/_internal/auth/create', body)
  assert.equal(made.statusCode, 201, made.body)
  const { session: token, user_id: id } = made.json()
  return { id, username, token }
}

/** Creates a project with a version; returns its ID. */
async function submit(author: StoryPerson, slug: string): Promise<string> {
  const token = await makeToken(site.t, author)
  const project = await makeProject(site.t, token, slug)
  await publish(site.t, token, { project_id: project, version_number: '1.0.0' })
  return project
}

async function advertise(n: number) {
  const person = await join(`lamp-shop-${n}`, 'lamps.example')
  const project = await submit(person, `cheap-lamps-${n}`)
  const own = site.t.as(person)
  assert.equal((await own.patch(`/v3/project/${project}`, { status: 'processing' })).statusCode, 204)
  const collection = await own.post('/v3/collection', { name: `Cheap lamps ${n}`, projects: [honest] })
  return { person, project, collection: collection.json().id as string }
}

/** Counts the traces of the wave: in the queue, in search, in public lists and feeds. */
async function traces(): Promise<Record<string, number>> {
  const { t } = site
  await t.searchable()
  const queue = (await t.as(moderator).get('/_internal/moderation/projects', { query: { count: 200 } })).json()
  const hits = (await t.anyone.get('/v3/search', { query: { query: 'lamps' } })).json().hits
  let lists = 0
  for (const { person, collection } of spam) {
    const collections = (await t.anyone.get(`/v3/user/${person.id}/collections`)).json()
    const isOpen = (await t.anyone.get(`/v3/collection/${collection}`)).statusCode === 200
    lists += collections.length + Number(isOpen)
  }
  const pages = await Promise.all(['/', '/mods', '/sitemap.xml'].map((path) => t.anyone.get(path)))
  return {
    queue: queue.total,
    search: hits.length,
    lists,
    pages: pages.filter(({ body }) => /cheap-lamps|lamp-shop/i.test(body)).length,
  }
}

/** Removes the wave in the browser; returns the number of requested documents. */
async function remove(page: Page, hasScripts: boolean): Promise<number> {
  let requests = 0
  const count = (request: Request) => {
    if (request.isNavigationRequest()) requests += 1
  }
  page.on('request', count)
  await page.goto(`${site.url}${LIST}`)
  await page.getByText(`${ACCOUNTS} accounts`).first().waitFor()
  if (hasScripts) await page.getByRole('checkbox', { name: 'Select all' }).check()
  else await page.getByRole('checkbox', { name: `All ${ACCOUNTS} accounts of this page` }).check()
  await page.getByRole('button', { name: 'Mark as spam' }).click()
  await page.getByText(`${ACCOUNTS} projects are rejected.`).waitFor()
  await shoot(page, `spam-preview-${hasScripts}`)
  await page.getByLabel('Message to members').fill('We do not publish advertising.')
  await page.getByRole('button', { name: `Mark ${ACCOUNTS} accounts as spam` }).click()
  await page.getByText(`${ACCOUNTS} accounts were cleaned up.`).waitFor()
  page.off('request', count)
  return requests
}

test('one moderator removes 40 accounts with 40 projects, undoes it, and removes them again without scripts', async () => {
  const nothing = { queue: 0, search: 0, lists: 0, pages: 0 }
  assert.deepEqual(await traces(), { ...nothing, queue: ACCOUNTS, lists: 2 * ACCOUNTS })
  const { context, page, problems } = await newPerson(site, { viewport: { width: 1280, height: 900 } })
  await signIn(site, context, moderator.token)
  const requests = await remove(page, true)
  assert.ok(requests <= REQUESTS_MAX, `${requests} requests`)
  assert.deepEqual(await traces(), nothing)
  await shoot(page, 'spam-done')
  await checkAccess(page)
  await page.getByRole('button', { name: /^Undo/ }).click()
  await page.getByText(`${ACCOUNTS} accounts are restored.`).waitFor()
  assert.deepEqual(await traces(), { ...nothing, queue: ACCOUNTS, lists: 2 * ACCOUNTS })
  assert.deepEqual(problems, [])
  await context.close()

  const plain = await newPerson(site, { javaScriptEnabled: false, viewport: { width: 390, height: 800 } })
  await signIn(site, plain.context, moderator.token)
  assert.ok((await remove(plain.page, false)) <= REQUESTS_MAX)
  assert.deepEqual(await traces(), nothing)
  await shoot(plain.page, 'spam-done-phone')
  const { t } = site
  for (const { person, project } of spam) {
    assert.equal((await t.as(person).get('/v3/user')).statusCode, 401)
    assert.equal((await t.as(moderator).get(`/v3/project/${project}`)).json().status, 'rejected')
  }
  assert.equal((await t.anyone.get(`/v3/project/${honest}`)).statusCode, 200)
  await plain.context.close()
})

test('the list fits a phone and can be used by everyone', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { context, page, problems } = await newPerson(site, { viewport: { width: 390, height: 800 }, colorScheme })
    await signIn(site, context, moderator.token)
    await page.goto(`${site.url}/moderation/users`)
    await shoot(page, `spam-list-${colorScheme}`)
    await checkFits(page)
    await checkAccess(page)
    assert.deepEqual(problems, [])
    await context.close()
  }
})
