// Personal pages in a real browser: notifications by email, data and devices, revenue and affiliate codes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  checkAccess,
  checkFits,
  newPerson,
  openSite,
  type Site,
  shoot,
  signIn,
} from '#test/support/browser/chromium.ts'
import { makePersonalPages } from '#test/support/browser/personal-pages.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'

let site: Site
let personal: Awaited<ReturnType<typeof makePersonalPages>>
before(async () => {
  site = await openSite()
  personal = await makePersonalPages(site)
})
after(() => site?.close())

const WIDE = { width: 1280, height: 900 }
const NARROW = { width: 390, height: 844 }
const LOOKS = [
  { name: 'wide-light', language: 'en', colorScheme: 'light', viewport: WIDE },
  { name: 'wide-dark', language: 'de', colorScheme: 'dark', viewport: WIDE },
  { name: 'narrow-light', language: 'de', colorScheme: 'light', viewport: NARROW },
  { name: 'narrow-dark', language: 'en', colorScheme: 'dark', viewport: NARROW },
  { name: 'contrast', language: 'en', colorScheme: 'light', contrast: 'more', viewport: { width: 768, height: 900 } },
  { name: 'tiny', language: 'de', colorScheme: 'light', viewport: { width: 320, height: 700 } },
  { name: 'mirrored', language: 'ar-XB', colorScheme: 'light', viewport: WIDE },
  { name: 'mirrored-narrow', language: 'ar-XB', colorScheme: 'light', viewport: NARROW },
] as const

for (const { name, language, ...look } of LOOKS) {
  test(`every personal page is readable by everyone and fits its window (${name})`, async () => {
    const { context, page, problems } = await newPerson(site, look)
    await signIn(site, context, personal.person.token)
    await context.addCookies([{ name: 'depot-language', value: language, url: site.url }])
    for (const [what, path] of Object.entries(personal.pages)) {
      const answer = await page.goto(`${site.url}${path}`)
      assert.equal(answer?.status(), 200, path)
      if (name === 'wide-light') assertValidHtml((await answer?.text()) ?? '', path)
      await shoot(page, `personal-${what}-${name}`)
      await page.evaluate("for (const element of document.querySelectorAll('main details')) element.open = true")
      await checkAccess(page, { isStrict: true })
      await checkFits(page)
    }
    assert.deepEqual(problems, [])
    await context.close()
  })
}

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
