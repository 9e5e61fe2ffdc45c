// Personal pages in a real browser: notifications by email, data and devices, revenue and affiliate codes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newPerson, openSite, type Site, signIn } from '#test/support/browser/chromium.ts'
import { lookAtPages, WIDE } from '#test/support/browser/looks.ts'
import { makePersonalPages } from '#test/support/browser/personal-pages.ts'

let site: Site
let personal: Awaited<ReturnType<typeof makePersonalPages>>
before(async () => {
  site = await openSite()
  personal = await makePersonalPages(site)
})
after(() => site?.close())

lookAtPages(
  () => site,
  () =>
    Object.entries(personal.pages).map(([name, path]) => ({
      name: `personal-${name}`,
      path,
      token: personal.person.token,
    })),
)

test('without scripts, an email is turned off by its link, and the setting shows it', async () => {
  const { context, page, problems } = await newPerson(site, { javaScriptEnabled: false, viewport: WIDE })
  await page.goto(`${site.url}${personal.pages['unsubscribe']}`)
  await page.getByRole('button', { name: 'Turn off' }).click()
  await page.getByText('You no longer receive these emails.').waitFor()
  await signIn(site, context, personal.person.token)
  await page.goto(`${site.url}/account/notifications`)
  const box = page.getByLabel('Decisions of moderators about your projects')
  assert.equal(await box.isChecked(), false)
  await box.check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your email settings were saved.').waitFor()
  assert.equal(await box.isChecked(), true)
  assert.deepEqual(problems, [])
  await context.close()
})
