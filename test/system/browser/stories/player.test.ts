// The story of a player in a real browser, on an empty instance: the lists are empty; after an author has published through
// the API, the player finds a mod for their game, downloads the mod and its library, follows the mod, receives a notification
// of the next version, makes a pack and reports a project.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkFits, newPerson, openSite, type Site } from '#test/support/browser/chromium.ts'
import { readZip } from '#test/support/factories/read-zip.ts'
import { mailsTo, PASSWORD } from '#test/support/http/account-steps.ts'
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

const says = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor()
const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click()

async function joins(page: Page, username: string): Promise<void> {
  const email = `${username}@example.org`
  await page.getByRole('link', { name: 'Sign up' }).first().click()
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await press(page, 'Sign up')
  await page.getByRole('heading', { name: 'Verify your email address' }).waitFor()
  const mail = (await mailsTo(site.t, email, /Verify/)).at(-1) ?? ''
  await page.goto(/^(http:\/\/\S+[?&]flow=\w+)\r$/m.exec(mail)?.[1] ?? assert.fail(mail))
  await press(page, 'Verify address')
  await says(page, 'Your email address is verified.')
}

test('a player finds a mod and its library, follows the mod, makes a pack and reports a copy', async () => {
  const { t, url } = site
  const { context, page, problems } = await newPerson(site, { acceptDownloads: true, reducedMotion: 'no-preference' })
  const admin = await firstAdmin(t)
  for (const path of ['/', '/mods', '/search?q=lamp', '/pack']) {
    assert.equal((await page.goto(`${url}${path}`))?.status(), 200, path)
    await checkFits(page)
  }
  const [author, moderator] = [await signUp(t, 'ida'), await signUp(t, 'mira')]
  await appointModerator(t, admin, moderator)
  const token = await makeToken(t, author)
  const library = await makeProject(t, token, 'lamp-library')
  const mod = await makeProject(t, token, 'lamps')
  const dependencies = [{ project_id: library, dependency_type: 'required' }]
  // The same library for another version of the game must not be offered.
  await publish(t, token, { project_id: library, version_number: '1.0.0' })
  await publish(t, token, { project_id: library, version_number: '2.0.0', game_versions: ['1.21.1'] })
  await publish(t, token, { project_id: mod, version_number: '1.0.0', dependencies })
  for (const project of [library, mod]) await approve(t, token, moderator, project)
  await t.searchable()

  await page.goto(`${url}/mods`)
  await page.getByRole('link', { name: 'lamps', exact: true }).first().click()
  await page.waitForURL(`${url}/mod/lamps`)
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page
      .getByRole('link', { name: /^Download/ })
      .first()
      .click(),
  ])
  assert.match(file.suggestedFilename(), /\.jar$/)
  const hrefs = await page
    .locator('a[href*="/data/"]')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  const right = (await t.anyone.get('/v3/project/lamp-library/version/1.0.0')).json().id
  const wrong = (await t.anyone.get('/v3/project/lamp-library/version/2.0.0')).json().id
  assert.ok(
    hrefs.some((href) => href?.includes(right)),
    hrefs.join(' '),
  )
  assert.ok(!hrefs.some((href) => href?.includes(wrong)), hrefs.join(' '))

  await joins(page, 'paul')
  await page.goto(`${url}/mod/lamps`)
  await press(page, 'Follow')
  await page.getByRole('button', { name: 'Following' }).waitFor()
  await publish(t, token, { project_id: mod, version_number: '1.1.0', dependencies })
  await t.runJobs()
  await page.goto(`${url}/dashboard/notifications`)
  await page.getByRole('link', { name: 'lamps 1.1.0 is out.' }).click()
  await page.waitForURL(/\/version\//)
  await page.goto(`${url}/dashboard/notifications`)
  await says(page, 'Nothing is unread')

  await page.goto(`${url}/mod/lamps`)
  await page.click('a[href*="/pack?add="]')
  await page.waitForURL(/projects=/)
  await page.selectOption('select[name=loader]', 'fabric')
  await page.selectOption('select[name=game_version]', '1.20.1')
  await page.fill('input[name=loader_version]', '0.15.11')
  await page.fill('input[name=name]', 'Evening')
  await page.click('form[method=get][action$="/pack"] button')
  await page.waitForURL(/loader_version=0\.15\.11/)
  await page.click('form[action$="/pack/files"] button')
  await says(page, 'The pack is ready')
  const [pack] = await Promise.all([
    page.waitForEvent('download'),
    page
      .getByRole('link', { name: /mrpack/ })
      .first()
      .click(),
  ])
  const [entry] = await readZip(await readFile(await pack.path()))
  const index = JSON.parse(String(entry?.content))
  assert.equal(index.files.length, 2, JSON.stringify(index))
  assert.equal(index.dependencies['fabric-loader'], '0.15.11')

  await page.goto(`${url}/mod/lamp-library`)
  await page.getByRole('link', { name: /^Report/ }).click()
  await page.getByLabel('Reason').selectOption('spam')
  await page.getByLabel('Description of the problem').fill('It copies another library.')
  await press(page, 'Send report')
  await says(page, 'Moderators have received your report')
  await page.goto(`${url}/dashboard/reports`)
  await says(page, 'lamp-library')
  assert.deepEqual(problems, [])
  await context.close()
})
