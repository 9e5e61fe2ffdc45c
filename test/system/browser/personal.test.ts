// Passwords while a user types them, in a real browser.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkAccess, checkFits, newPerson, openSite, type Site, shoot } from '#test/support/browser/chromium.ts'
import { NARROW, WIDE } from '#test/support/browser/looks.ts'

let site: Site
before(async () => {
  site = await openSite()
})
after(() => site?.close())

test('the strength of a password is announced while typing, and nothing else changes without scripts', async () => {
  for (const viewport of [WIDE, NARROW]) {
    const { context, page, problems } = await newPerson(site, { viewport })
    await page.goto(`${site.url}/account/sign-up`)
    const said = page.locator('#password-strength[role=status]')
    assert.equal((await said.textContent())?.trim(), '')
    await page.locator('#username').fill('obelisk')
    const field = page.locator('#password')
    await field.pressSequentially('lanter')
    await said.getByText('2 more characters are needed.').waitFor()
    await field.fill('obelisk99')
    await said.getByText('It repeats your username').waitFor()
    await shoot(page, `strength-weak-${viewport.width}`)
    await checkAccess(page, { isStrict: true })
    await checkFits(page)
    await field.fill('lantern glass orbit')
    await said.getByText('A strong password.').waitFor()
    await field.fill('')
    await said.getByText('A strong password.').waitFor({ state: 'detached' })
    assert.deepEqual(problems, [])
    await context.setOffline(true)
    const failed = page.waitForEvent('requestfailed')
    await field.fill('lantern')
    await failed
    assert.equal(await said.textContent(), '')
    await context.close()
  }
  const { context, page } = await newPerson(site, { javaScriptEnabled: false })
  await page.goto(`${site.url}/account/sign-up`)
  await page.locator('#password').fill('lantern')
  assert.equal(await page.locator('#password-strength').isVisible(), false)
  await context.close()
})
