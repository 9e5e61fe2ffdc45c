// Analytics in a real browser without scripts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkAccess, newPerson, openSite, type Site, shoot, signIn } from '#test/support/browser/chromium.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { ANALYTICS, makeAnalytics } from '#test/support/pages/analytics-pages.ts'

let site: Site
let owner: Person
let reader: Person
before(async () => {
  site = await openSite()
  owner = await site.t.make.account({ username: 'ida-marsh' })
  reader = await site.t.make.account({ username: 'hollis' })
  await makeAnalytics(site.t, owner, reader)
})
after(() => site?.close())

const WIDE = { width: 1280, height: 900 }

test('without scripts: the tiles, the form and the search work; members without the permission see who can grant it', async () => {
  const { context, page } = await newPerson(site, { javaScriptEnabled: false, viewport: WIDE })
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${ANALYTICS}`)
  await page.getByRole('link', { name: 'Views', exact: true }).click()
  await page.getByRole('heading', { name: 'Views per day' }).waitFor()
  await page.getByLabel('Step').selectOption('Week')
  await page.getByLabel('Compare with the previous period').check()
  await page.getByRole('main').getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('heading', { name: 'Views per week' }).waitFor()
  await page.getByRole('navigation', { name: 'Divide by' }).getByRole('link', { name: 'Country' }).click()
  await page.waitForURL(/by=country/)
  await page.getByLabel('Search in the table').fill('germ')
  await page.getByRole('main').getByRole('button', { name: 'Search' }).click()
  await page.getByRole('rowheader', { name: /Germany/ }).waitFor()
  assert.match(page.url(), /m=views.*step=week.*by=country.*compare=before.*q=germ/)
  await context.close()
  const other = await newPerson(site, { viewport: WIDE })
  await signIn(site, other.context, reader.token)
  await other.page.goto(`${site.url}${ANALYTICS}`)
  await other.page.getByText('To see this, ask ida-marsh').waitFor()
  await shoot(other.page, 'not-permitted')
  await checkAccess(other.page, { isStrict: true })
  await other.context.close()
})
