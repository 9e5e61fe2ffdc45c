// The theme of an instance, with and without scripts: an operator sets logo, hue, texts and sections of the home page,
// and visitors see them. `IMAGES=docs/images npm test -- test/system/browser/theme.test.ts` renews the images of docs/contributors/site.md.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedCatalogue } from '#demo/seed/seed-catalogue.ts'
import { checkAccess, checkFits, newPerson, openSite, type Site, signIn } from '#test/support/browser/chromium.ts'
import { takeImage } from '#test/support/browser/images.ts'
import { NARROW, WIDE } from '#test/support/browser/looks.ts'
import type { Person } from '#test/support/factories/factories.ts'

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#8a3d0f"/>
<path d="M24 18h16l4 10v20a4 4 0 0 1-4 4H24a4 4 0 0 1-4-4V28z" fill="#ffdf9e"/><circle cx="32" cy="38" r="7" fill="#e4802b"/></svg>`

let site: Site
let admin: Person
before(async () => {
  site = await openSite({ REQUIRE_VERIFIED_EMAIL: 'false' })
  await seedCatalogue(site.t.deps, 60)
  await site.t.searchable()
  admin = await site.t.make.account({ role: 'admin', username: 'olga' })
})
after(() => site?.close())

for (const [hasScripts, viewport] of [
  [true, WIDE],
  [false, NARROW],
] as const) {
  const how = hasScripts ? 'with scripts, wide' : 'without scripts, narrow'
  test(`an operator gives the instance its theme, and resets it (${how})`, async () => {
    const { context, page, problems } = await newPerson(site, { javaScriptEnabled: hasScripts, viewport })
    await signIn(site, context, admin.token)
    const settings = `${site.url}/operator/settings`
    const sections = page.locator('#home_sections')
    const save = page.getByRole('button', { name: 'Save changes' })
    await page.goto(settings)
    await page
      .getByLabel('New logo')
      .setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(LOGO) })
    await page.locator('button[value=logo]').click()
    await page.locator('button[value=remove-logo]').waitFor()
    await page.locator('#name').fill('Lantern Harbour')
    await page.locator('#home_heading').fill('Light for every world')
    await page.locator('#home_text').fill('Mods, packs and shaders, made by the people of the harbour.')
    await sections.getByText('New releases').click()
    await page.locator('input[name=accent_hue][value="45"]').check({ force: true })
    await sections.scrollIntoViewIfNeeded()
    await takeImage(page, hasScripts, 'theme-settings')
    await save.click()
    await page.waitForURL(/done=saved/)
    await checkFits(page)
    await context.clearCookies()
    await page.goto(site.url)
    await page.getByRole('heading', { level: 1, name: 'Light for every world' }).waitFor()
    await page.getByText('made by the people of the harbour').waitFor()
    assert.equal(await page.locator('html.h45').count(), 1)
    assert.match((await page.locator('header img').first().getAttribute('src')) ?? '', /\/data\//)
    assert.equal(await page.getByRole('heading', { name: 'New releases' }).count(), 0)
    await page.getByRole('heading', { name: 'New collections' }).waitFor()
    await takeImage(page, hasScripts, 'theme-home')
    if (hasScripts) await checkAccess(page, { isStrict: true })
    await checkFits(page)
    await signIn(site, context, admin.token)
    await page.goto(settings)
    await page.locator('#home_heading').fill('')
    await page.locator('#home_text').fill('')
    await sections.getByText('New releases').click()
    await page.locator('input[name=accent_hue][value=""]').check({ force: true })
    await save.click()
    await page.waitForURL(/done=saved/)
    await page.goto(settings)
    await page.locator('button[value=remove-logo]').click()
    await page.waitForURL(/done=saved/)
    await page.goto(site.url)
    await page.getByRole('heading', { name: 'New releases' }).waitFor()
    assert.equal(await page.getByText('Light for every world').count(), 0)
    assert.deepEqual(problems, [])
    await context.close()
  })
}
