// The story of a pack in a real browser, on an empty instance: a player collects mods, makes a pack of the collection, saves it,
// finds the link to a launcher, and adds a mod; the addresses that friends have installed follow.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkFits, newPerson, openSite, type Site } from '#test/support/browser/chromium.ts'
import { readZip } from '#test/support/factories/read-zip.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'
import {
  appointModerator,
  approve,
  firstAdmin,
  makeProject,
  makeToken,
  publish,
  signUp,
} from '#test/support/story/empty-instance.ts'

let site: Site
before(async () => {
  site = await openSite()
})
after(() => site?.close())

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click()
const says = (page: Page, text: string): Promise<void> => page.getByText(text).first().waitFor()

async function signIn(page: Page, username: string): Promise<void> {
  await page.goto(`${site.url}/account/sign-in`)
  await page.getByLabel('Username or email address').fill(username)
  await page.getByLabel('Password').fill(PASSWORD)
  await press(page, 'Sign in')
  await page.waitForURL(`${site.url}/account`)
}

/** Files of the pack at an address, as a launcher reads it. */
async function installed(path: string): Promise<{ version: string; files: string[] }> {
  const [entry] = await readZip((await site.t.anyone.get(path)).rawPayload)
  const index = JSON.parse(String(entry?.content))
  return { version: index.versionId, files: index.files.map((file: { path: string }) => file.path) }
}

test('a collection becomes a saved pack, a launcher opens it, and installed packs follow a change', async () => {
  const { t, url } = site
  const { context, page, problems } = await newPerson(site, { acceptDownloads: true })
  const admin = await firstAdmin(t)
  const [author, moderator] = [await signUp(t, 'ida'), await signUp(t, 'mira')]
  await appointModerator(t, admin, moderator)
  const token = await makeToken(t, author)
  const projects: Record<string, string> = {}
  for (const slug of ['lamps', 'torches', 'lanterns']) {
    const project = await makeProject(t, token, slug)
    await publish(t, token, { project_id: project, version_number: '1.0.0' })
    await approve(t, token, moderator, project)
    projects[slug] = project
  }
  await t.searchable()
  const player = await signUp(t, 'paul')
  await signIn(page, 'paul')
  const body = { name: 'Lights for winter', projects: [projects['lamps'], projects['torches']] }
  const collection = (await t.as(player).post('/v3/collection', body)).json().id

  await page.goto(`${url}/collection/${collection}`)
  await page.getByRole('link', { name: 'Make a pack' }).click()
  await page.waitForURL(/\/pack\?projects=/)
  await page.selectOption('select[name=loader]', 'fabric')
  await page.selectOption('select[name=game_version]', '1.20.1')
  await page.fill('input[name=loader_version]', '0.15.11')
  // The page says why it did not save the pack, and loses nothing.
  await page.fill('input[name=name]', '')
  await press(page, 'Save pack')
  await page.locator('#errors:focus').getByText('The name of the pack').waitFor()
  assert.equal(await page.inputValue('input[name=loader_version]'), '0.15.11')
  await page.fill('input[name=name]', 'Lights for winter')
  // The button takes what was typed above it.
  await press(page, 'Save pack')
  await page.waitForURL(`${url}/pack/paul/lights-for-winter?done=pack-saved`)
  await checkFits(page)
  await says(page, 'The pack is saved.')
  await page.getByText('Open in a launcher').click()
  const link = await page.getByRole('link', { name: 'Prism Launcher' }).getAttribute('href')
  const latest = `${url}/pack/paul/lights-for-winter/latest.mrpack`
  assert.equal(link, `prismlauncher://import?url=${encodeURIComponent(latest)}`)
  const path = new URL(latest).pathname
  const before = await installed(path)
  assert.deepEqual([before.version, before.files.length], ['1', 2])
  const address = (await page.locator('#packwiz').textContent()) ?? ''
  const pack = new URL(address).pathname
  assert.match((await t.anyone.get(pack)).body, /file = "index-1\.toml"/)

  await page.getByRole('link', { name: 'Change projects and setup' }).click()
  await says(page, 'Your changes become save 2 of the pack.')
  await page.goto(`${url}/mod/lanterns`)
  await page.getByRole('link', { name: 'Add to a pack' }).click()
  await page.waitForURL(/projects=[^&]*&/)
  await press(page, 'Save Lights for winter')
  await says(page, 'Save 2')
  const after = await installed(path)
  assert.deepEqual([after.version, after.files.length], ['2', 3])
  assert.deepEqual(await installed(path.replace('latest', '1')), before)
  assert.match((await t.anyone.get(pack)).body, /version = "2"/)
  assert.match((await t.anyone.get(pack.replace('pack.toml', 'index-2.toml'))).body, /mods\/lanterns\./)
  await page.goto(`${url}/dashboard/packs`)
  await says(page, 'Lights for winter')
  await checkFits(page)
  assert.deepEqual(problems, [])
  await context.close()
})
