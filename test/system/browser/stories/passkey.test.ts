// The story of a passkey in a real browser with a virtual authenticator, from an empty instance: a person adds a passkey, stores the
// backup codes, signs in with the passkey, and confirms a change with it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkFits, newPerson, openSite, type Site, shoot } from '#test/support/browser/chromium.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'

let site: Site
before(async () => {
  site = await openSite({ REQUIRE_VERIFIED_EMAIL: 'false' }, 'localhost')
})
after(() => site.close())

const says = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor()
const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click()
const open = (page: Page, path: string) => page.goto(`${site.url}${path}`)

/** Adds an authenticator that verifies its user automatically. */
async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const
  await session.send('WebAuthn.addVirtualAuthenticator', { options })
}

test('a person adds a passkey, signs in with it, and confirms a change with it', async () => {
  const { page, problems } = await newPerson(site, { viewport: { width: 390, height: 844 } })
  await addAuthenticator(page)
  await open(page, '/account/sign-up?return=/account/security')
  await page.getByLabel('Username').fill('ida')
  await page.getByLabel('Email address').fill('ida@example.org')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await press(page, 'Sign up')
  await page.waitForURL(`${site.url}/account/security`)
  await press(page, 'Add a passkey')
  await checkFits(page)
  await shoot(page, 'passkey-new')
  await page.getByLabel('Name of the passkey').fill('Phone of Ida')
  await press(page, 'Create passkey')
  await says(page, 'The passkey was added.')
  await checkFits(page)
  await shoot(page, 'passkey-codes')
  assert.equal(await page.locator('#codes li').count(), 6)
  await page.getByRole('button', { name: 'Print' }).waitFor()
  await page.getByRole('link', { name: 'I have saved these codes' }).click()
  await says(page, 'Phone of Ida')
  await says(page, 'You have 6 unused backup codes.')
  await checkFits(page)
  await shoot(page, 'passkey-list')

  await page.context().clearCookies()
  await open(page, '/account/sign-in?return=/account/security')
  await page
    .waitForURL((url) => url.pathname !== '/account/sign-in', { timeout: 3_000 })
    .catch(async () => {
      await shoot(page, 'passkey-sign-in')
      await press(page, 'Sign in with a passkey')
    })
  await page.waitForURL(`${site.url}/account/security`)
  assert.equal(await page.getByText('never used').count(), 0)

  site.t.advance(11 * 60_000)
  await open(page, '/account/data')
  await shoot(page, 'passkey-confirm')
  await press(page, 'Use a passkey')
  await page.getByLabel('Type ida').or(page.locator('input[name=username]:not([hidden])')).first().waitFor()

  await open(page, '/account/security')
  await page.locator('summary', { hasText: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete the passkey Phone of Ida' }).click()
  await says(page, 'The passkey was deleted.')
  assert.deepEqual(problems, [])
})
