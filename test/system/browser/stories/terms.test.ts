// The story of the Terms in a real browser, from an empty instance: an operator publishes them, a person signs up with consent, and a
// new version asks that person again. The operator and the sign-up need no scripts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkFits, newPerson, openSite, type Site, shoot } from '#test/support/browser/chromium.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'
import { firstAdmin } from '#test/support/story/empty-instance.ts'

let site: Site
before(async () => {
  site = await openSite({ REQUIRE_VERIFIED_EMAIL: 'false' })
})
after(() => site.close())

const says = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor()
const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click()
const open = (page: Page, path: string) => page.goto(`${site.url}${path}`)

async function publish(page: Page, text: string, { asks = false } = {}): Promise<void> {
  await open(page, '/operator/pages')
  await page.getByRole('link', { name: 'Terms', exact: true }).first().click()
  await page.locator('#text').fill(text)
  if (asks) await page.getByLabel('Ask all users to agree to this version').check()
  await checkFits(page)
  await press(page, 'Publish version')
  await says(page, 'The page is published.')
}

test('a person agrees to the Terms at sign-up, and again to a new version before they write', async () => {
  const { username } = await firstAdmin(site.t)
  const { page: operator, problems } = await newPerson(site, { javaScriptEnabled: false })
  await open(operator, '/account/sign-in?return=/operator/pages')
  await operator.getByLabel('Username or email address').fill(username)
  await operator.getByLabel('Password').fill(PASSWORD)
  await press(operator, 'Sign in')
  await publish(operator, 'Uploads are public.')

  const viewport = { width: 390, height: 844 }
  const { page: person, problems: others } = await newPerson(site, { viewport, javaScriptEnabled: false })
  await open(person, '/account/sign-up?return=/mods')
  await person.getByLabel('Username').fill('ida')
  await person.getByLabel('Email address').fill('ida@example.org')
  await person.getByLabel('Password').fill(PASSWORD)
  await checkFits(person)
  await person.getByLabel('I agree to the Terms.').check()
  await press(person, 'Sign up')
  await person.waitForURL(`${site.url}/mods`)
  assert.equal(await person.getByText('has new Terms').count(), 0)

  await open(person, '/new/collection')
  await person.getByLabel('Name').fill('Lamps')
  await publish(operator, 'Uploads are public, and stay public.', { asks: true })
  await press(person, 'Create collection')
  await says(person, 'Agree to the new Terms first')
  await checkFits(person)
  await shoot(person, 'terms-refused')
  assert.equal(await person.getByLabel('Name').inputValue(), 'Lamps')

  await open(person, '/mods')
  await person.getByRole('link', { name: 'Read and agree' }).click()
  await says(person, 'Uploads are public, and stay public.')
  await person.getByRole('link', { name: 'Not now' }).click()
  await person.waitForURL(`${site.url}/mods`)
  await shoot(person, 'terms-line')
  await person.getByRole('link', { name: 'Read and agree' }).click()
  await person.getByLabel('I agree to the Terms.').check()
  await press(person, 'Agree')
  await person.waitForURL(`${site.url}/mods?done=agreed`)
  assert.equal(await person.getByText('has new Terms').count(), 0)
  await open(person, '/new/collection')
  await person.getByLabel('Name').fill('Lamps')
  await press(person, 'Create collection')
  await says(person, 'The collection was created.')

  await open(operator, '/operator/pages')
  await says(operator, '1 of 2 active accounts agreed to version 2')
  await shoot(operator, 'terms-pages')
  await operator.getByRole('link', { name: 'Terms', exact: true }).first().click()
  await shoot(operator, 'terms-versions')
  assert.deepEqual([...problems, ...others], [])
})
