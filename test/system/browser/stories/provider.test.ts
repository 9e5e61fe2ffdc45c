// The story of a sign-in with a real OpenID Connect provider, from an empty instance and without scripts: a person signs up with
// their account of the provider, signs in again, and another person links and unlinks theirs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkFits, newPerson, openSite, type Site, shoot } from '#test/support/browser/chromium.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'
import { freePort } from '#test/support/processes/free-port.ts'
import { startOpenIdProvider } from '#test/support/stand-ins/openid-provider.ts'

let site: Site
let provider: Awaited<ReturnType<typeof startOpenIdProvider>>
before(async () => {
  const port = await freePort()
  provider = await startOpenIdProvider(`http://localhost:${port}`)
  site = await openSite({ SIGN_IN_PROVIDERS: provider.settings }, 'localhost', port)
})
after(async () => {
  await site.close()
  provider.close()
})

const says = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor()
const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click()
const open = (page: Page, path: string) => page.goto(`${site.url}${path}`)

/** Signs in at the provider and consents. */
async function signInThere(page: Page, name: string): Promise<void> {
  await page.waitForURL((url) => url.origin === provider.url)
  await page.locator('input[name=login]').fill(name)
  await page.locator('input[name=password]').fill('any password')
  await page.locator('button[type=submit]').click()
  await page.waitForLoadState()
  await page.locator('button[type=submit]').click()
}

test('a person signs up with an account of a provider, and signs in with it', async () => {
  const viewport = { width: 390, height: 844 }
  const { page, problems } = await newPerson(site, { viewport, javaScriptEnabled: false })
  await open(page, '/account/sign-in?return=/mods')
  await checkFits(page)
  await shoot(page, 'provider-sign-in')
  await press(page, 'Sign in with Campus')
  await signInThere(page, 'mira')
  await says(page, 'You sign in with Campus as mira.')
  assert.equal(await page.getByLabel('Email address').inputValue(), 'mira@example.org')
  await checkFits(page)
  await shoot(page, 'provider-sign-up')
  await page.getByLabel('Username').fill('mira-b')
  await press(page, 'Sign up')
  await page.waitForURL(`${site.url}/mods`)

  const cookies = await page.context().cookies(provider.url)
  assert.ok(cookies.length > 0)
  await open(page, '/account/security')
  await says(page, 'Other accounts')
  await checkFits(page)
  await shoot(page, 'provider-security')
  await page.context().clearCookies()
  await open(page, '/account/sign-in')
  await press(page, 'Sign in with Campus')
  await page.locator('input[name=login]').fill('mira')
  await page.locator('input[name=password]').fill('any password')
  await page.locator('button[type=submit]').click()
  await page.waitForURL((url) => url.pathname === '/account' || url.pathname.startsWith('/interaction'))
  if (page.url().includes('/interaction')) await page.locator('button[type=submit]').click()
  await page.waitForURL(`${site.url}/account`)
  assert.equal(await page.getByLabel('Username').inputValue(), 'mira-b')
  // The pages of the provider load fonts from another host.
  assert.deepEqual(
    problems.filter((text) => !text.includes('ERR_NAME_NOT_RESOLVED')),
    [],
  )
})

test('a person with a password links an account of a provider, and unlinks it', async () => {
  const { page } = await newPerson(site, { javaScriptEnabled: false })
  await open(page, '/account/sign-up?return=/account/security')
  await page.getByLabel('Username').fill('olaf')
  await page.getByLabel('Email address').fill('olaf@example.org')
  await page.getByLabel('Password').fill(PASSWORD)
  await press(page, 'Sign up')
  await open(page, '/account/security')
  await press(page, 'Link Campus')
  await signInThere(page, 'olaf-at-campus')
  await says(page, 'The account was linked.')
  await shoot(page, 'provider-linked')
  await press(page, 'Unlink Campus')
  await says(page, 'The account was unlinked.')
})
