// The story of a new game version in a real browser, each on an empty instance: the operator adds it by its form, without
// scripts, or lets Depot read it from the manifest of the game. Authors can choose it, and visitors find content for it.
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkFits, newPerson, openSite, type Site } from '#test/support/browser/chromium.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'
import { startReceiver } from '#test/support/stand-ins/receiver.ts'
import {
  appointModerator,
  approve,
  firstAdmin,
  makeProject,
  makeToken,
  publish,
  signUp,
} from '#test/support/story/empty-instance.ts'

const manifest = await startReceiver()
after(() => manifest.close())
let site: Site | undefined
afterEach(() => site?.close())

const says = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor()
const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click()

async function signIn(page: Page, url: string, username: string, path = '/operator'): Promise<void> {
  await page.goto(`${url}/account/sign-in?return=${path}`)
  await page.getByLabel('Username or email address').fill(username)
  await page.getByLabel('Password').fill(PASSWORD)
  await press(page, 'Sign in')
  await page.waitForURL(`${url}${path}`)
}

/** An author publishes a mod for the version, and visitors find it. */
async function useVersion(of: Site, page: Page, version: string): Promise<void> {
  const { t, url } = of
  const admin = await firstAdminOf(t)
  const [author, moderator] = [await signUp(t, 'ida'), await signUp(t, 'mira')]
  await appointModerator(t, admin, moderator)
  const token = await makeToken(t, author)
  const project = await makeProject(t, token, 'lamps')
  await publish(t, token, { project_id: project, version_number: '1.0.0', game_versions: [version] })
  await approve(t, token, moderator, project)
  await t.searchable()
  await page.goto(`${url}/mods?v=${version}`)
  await page.getByRole('link', { name: 'lamps', exact: true }).first().waitFor()
  const listed: { version: string; version_type: string }[] = (await t.anyone.get('/v2/tag/game_version')).json()
  assert.deepEqual(
    listed.filter((row) => row.version === version).map(({ version_type: type }) => type),
    ['release'],
  )
  const { context, page: upload, problems } = await newPerson(of)
  await signIn(upload, url, author.username, '/dashboard')
  await upload.goto(`${url}/mod/lamps/versions/new`)
  await upload.locator(`[name=game_versions][value="${version}"]`).first().waitFor({ state: 'attached' })
  assert.deepEqual(problems, [])
  await context.close()
}

const admins = new WeakMap<object, Awaited<ReturnType<typeof firstAdmin>>>()
async function firstAdminOf(t: Site['t']) {
  const admin = admins.get(t) ?? (await firstAdmin(t))
  admins.set(t, admin)
  return admin
}

test('an operator adds a new game version by its form, without scripts and on a phone', async () => {
  site = await openSite()
  const { t, url } = site
  const { username } = await firstAdminOf(t)
  const viewport = { width: 390, height: 844 }
  const { page, problems } = await newPerson(site, { javaScriptEnabled: false, viewport })
  await signIn(page, url, username)
  await page.goto(`${url}/operator/tags`)
  await checkFits(page)
  await page.getByRole('link', { name: 'Add tag' }).click()
  await page.getByLabel('Version', { exact: true }).fill('99.1')
  await checkFits(page)
  await press(page, 'Add tag')
  await says(page, 'The tag is saved.')
  await page.getByRole('link', { name: '99.1', exact: true }).first().waitFor()
  await useVersion(site, page, '99.1')
  assert.deepEqual(problems, [])
})

test('an operator reads new game versions from the manifest', async () => {
  const releaseTime = new Date(Date.now() - 60_000).toISOString()
  const versions = [{ id: '99.2', type: 'release', releaseTime }]
  manifest.answer(500, (_received, res) => void res.writeHead(200).end(JSON.stringify({ versions })))
  site = await openSite({ GAME_VERSIONS_URL: `${manifest.url}/manifest.json` })
  const { t, url } = site
  const { username } = await firstAdminOf(t)
  const { page, problems } = await newPerson(site)
  await signIn(page, url, username)
  await page.goto(`${url}/operator/tags`)
  await press(page, 'Read now')
  await says(page, /The manifest cannot be read/)
  await press(page, 'Read now')
  await says(page, 'One game version was added.')
  await page.getByRole('link', { name: '99.2', exact: true }).first().waitFor()
  await page.goto(`${url}/operator/tags/link_platforms`)
  const [first] = await page.locator('[data-order] li a').allTextContents()
  await page.locator('[data-order] li').first().dragTo(page.locator('[data-order] li').nth(2))
  await says(page, 'The order is changed.')
  assert.notEqual((await page.locator('[data-order] li a').allTextContents())[0], first)
  await useVersion(site, page, '99.2')
  assert.deepEqual(problems, [])
})
