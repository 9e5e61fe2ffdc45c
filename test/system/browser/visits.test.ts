// Tasks of visitors and users on the home page, on profiles and with a project, in a real browser, with and without
// scripts, in wide and narrow windows: the first run, filters of profiles, changelogs in place, following by keyboard and by
// the outline, two tabs, and a session that ends between two clicks.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  checkAccess,
  checkFits,
  newPerson,
  openSite,
  type Site,
  shoot,
  signIn,
} from '#test/support/browser/chromium.ts'
import { NARROW, WIDE } from '#test/support/browser/looks.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'

const WAYS = [
  { name: 'with scripts, wide', options: { javaScriptEnabled: true, viewport: WIDE } },
  { name: 'without scripts, narrow', options: { javaScriptEnabled: false, viewport: NARROW } },
]

let site: Site
let owner: Person
let lantern: MadeProject
before(async () => {
  site = await openSite({ REQUIRE_VERIFIED_EMAIL: 'false' })
})
after(() => site?.close())

async function look(page: Page, name: string, hasScripts: boolean): Promise<void> {
  await shoot(page, `${name}-${page.viewportSize()?.width}-${hasScripts ? 'scripts' : 'plain'}`)
  await checkFits(page)
  if (hasScripts) await checkAccess(page, { isStrict: true })
}

for (const { name, options } of WAYS)
  test(`the first run leads the operator on (${name})`, async () => {
    const admin = await site.t.make.account({ role: 'admin' })
    const { context, page, problems } = await newPerson(site, options)
    await page.goto(site.url)
    await page.getByText('Nothing has been published yet.').waitFor()
    await look(page, 'first-run', options.javaScriptEnabled)
    await signIn(site, context, admin.token)
    await page.goto(site.url)
    const steps = page.locator('.first-run > li')
    assert.equal(await steps.count(), 4)
    await look(page, 'first-run-operator', options.javaScriptEnabled)
    await steps.first().getByRole('link').click()
    await page.waitForURL(`${site.url}/operator/first-steps`)
    assert.deepEqual(problems, [])
    await context.close()
  })

test('projects for the following tests', async () => {
  const { make } = site.t
  owner = await make.account({ username: 'mira' })
  lantern = await make.project({ owner, slug: 'lantern', name: 'Lantern' })
  const pack = await make.project({ owner, slug: 'embers', name: 'Embers' })
  for (const version_number of ['1.0', '1.1', '2.0'])
    await make.version({ project: lantern, version_number, loaders: ['fabric'] })
  await make.version({ project: pack, version_number: '1.0', loaders: ['minecraft'] })
  await site.t.searchable()
})

for (const { name, options } of WAYS)
  test(`profiles filter by type and setup, and the home page shows what a user follows (${name})`, async () => {
    const { context, page, problems } = await newPerson(site, options)
    await page.goto(`${site.url}/user/mira`)
    const hits = page.locator('.hit :is(h2, h3) > a')
    assert.equal(await hits.count(), 2)
    await look(page, 'profile', options.javaScriptEnabled)
    await page.locator('main a[href$="/user/mira?type=mod"]').first().click()
    await page.waitForURL(/type=mod/)
    await page.getByRole('link', { name: 'Embers' }).waitFor({ state: 'detached' })
    assert.deepEqual(await hits.allTextContents(), ['Lantern'])
    await page.goto(`${site.url}/mods`)
    await page.locator('#setup select[name=loader]').selectOption('forge')
    if (!options.javaScriptEnabled) await page.locator('#setup button').click()
    await page.getByRole('heading', { name: /for Forge$/ }).waitFor()
    await page.goto(`${site.url}/user/mira?type=mod`)
    assert.equal(await hits.count(), 0)
    await page.goto(`${site.url}/user/mira?type=mod&setup=any`)
    assert.deepEqual(await hits.allTextContents(), ['Lantern'])
    const fan = await site.t.make.account()
    assert.equal((await site.t.as(fan).post('/v3/project/lantern/follow')).statusCode, 204)
    await context.clearCookies()
    await signIn(site, context, fan.token)
    await page.goto(site.url)
    const followed = page.getByRole('region', { name: 'New in what you follow' })
    await followed.getByRole('link', { name: /Lantern/ }).waitFor()
    await look(page, 'home-signed-in', options.javaScriptEnabled)
    await followed.getByRole('link', { name: /Lantern/ }).click()
    await page.waitForURL(/\/mod\/lantern\/version\/2\.0$/)
    assert.deepEqual(problems, [])
    await context.close()
  })

for (const { name, options } of WAYS)
  test(`the changelog shows the changes between two versions (${name})`, async () => {
    const { context, page, problems } = await newPerson(site, options)
    await page.goto(`${site.url}/mod/lantern/changelog`)
    const changes = page.locator('.change h2')
    assert.equal(await changes.count(), 3)
    await page.evaluate('document.documentElement.dataset.same = "yes"').catch(() => undefined)
    await page.locator('#by-from').focus()
    await page.locator('#by-from').selectOption({ label: '1.0' })
    if (!options.javaScriptEnabled) await page.locator('.narrowing button').click()
    await page.waitForURL(/from=/)
    await changes.nth(2).waitFor({ state: 'detached' })
    assert.deepEqual(await changes.allTextContents(), ['2.0', '1.1'])
    if (options.javaScriptEnabled) {
      assert.equal(await page.locator('html').getAttribute('data-same'), 'yes')
      assert.equal(await page.locator('#said').textContent(), '2 versions')
      assert.equal(await page.evaluate('document.activeElement.id'), 'by-from')
      await page.goBack()
      await changes.nth(2).waitFor()
    }
    await look(page, 'changelog', options.javaScriptEnabled)
    assert.deepEqual(problems, [])
    await context.close()
  })

for (const viewport of [WIDE, NARROW]) {
  test(`a user follows with the keyboard alone, and through the outline (${viewport.width} pixels)`, async () => {
    const fan = await site.t.make.account()
    const { context, page } = await newPerson(site, { viewport })
    await signIn(site, context, fan.token)
    await page.goto(`${site.url}/mod/lantern`)
    const pressed = async (text: RegExp) => {
      for (let press = 0; press < 60; press += 1) {
        await page.keyboard.press('Tab')
        if (text.test(String(await page.evaluate('document.activeElement.textContent')).trim())) return
      }
      assert.fail(`Tab never reaches ${text}`)
    }
    await pressed(/^Follow$/)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Following' }).waitFor()
    await pressed(/^Following$/)
    await page.keyboard.press('Space')
    // As a screen reader lists it: landmark, heading, button.
    const main = page.getByRole('main')
    await main.getByRole('heading', { level: 1, name: 'Lantern' }).waitFor()
    await main.getByRole('button', { name: 'Follow', exact: true }).click()
    await main.getByRole('button', { name: 'Following' }).waitFor()
    const follows = (await site.t.as(fan).get(`/v3/user/${fan.id}/follows`)).json() as { id: string }[]
    assert.deepEqual(
      follows.map(({ id }) => id),
      [lantern.id],
    )
    await context.close()
  })

  test(`two tabs follow the same project, and a session ends between two clicks (${viewport.width} pixels)`, async () => {
    const fan = await site.t.make.account()
    const { context, page } = await newPerson(site, { viewport })
    await signIn(site, context, fan.token)
    const other = await context.newPage()
    for (const tab of [page, other]) await tab.goto(`${site.url}/mod/lantern`)
    for (const tab of [page, other]) {
      await tab.getByRole('button', { name: 'Follow', exact: true }).click()
      await tab.getByRole('button', { name: 'Following' }).waitFor()
    }
    const admin = await site.t.make.account({ role: 'admin' })
    const ended = await site.t.as(admin).delete(`/_internal/admin/user/${fan.id}/sessions`)
    assert.equal(ended.statusCode, 204, ended.body)
    await page.getByRole('button', { name: 'Following' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.match(page.url(), /return=%2Fmod%2Flantern$/)
    await other.reload()
    await other.getByRole('main').getByRole('link', { name: 'Follow', exact: true }).waitFor()
    await context.close()
  })
}
