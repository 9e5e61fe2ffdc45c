// A new project in a real browser without scripts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newPerson, openSite, type Site, shoot, signIn } from '#test/support/browser/chromium.ts'
import type { Person } from '#test/support/factories/factories.ts'

let site: Site
let owner: Person
before(async () => {
  site = await openSite()
  owner = await site.t.make.account({ username: 'ida-marsh' })
  await site.t.make.project({ owner, name: 'Lantern', slug: 'lantern' })
})
after(() => site?.close())

test('a new project is created without scripts: similar names, errors and the checklist', async () => {
  const { context, page } = await newPerson(site, { javaScriptEnabled: false, viewport: { width: 1280, height: 900 } })
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}/new/project`)
  await page.getByLabel('Name', { exact: true }).fill('Lanterns')
  await page.getByRole('button', { name: 'Check name' }).click()
  await page.getByText('Similar names').waitFor()
  await shoot(page, 'new-project-similar')
  assert.equal(await page.getByLabel(/^URL/).inputValue(), 'lanterns')
  await page.getByLabel(/^Summary/).fill('Lamps that glow.')
  await page.getByRole('button', { name: 'Create draft' }).click()
  await page.getByText('The draft was created').waitFor()
  assert.match(page.url(), /\/mod\/lanterns\/settings\/description\?done=created$/)
  await page.goto(`${site.url}/mod/lanterns/settings/review`)
  await page.getByRole('button', { name: 'Submit for review' }).click()
  await page.getByText('The project needs: Public version.').waitFor()
  await shoot(page, 'review-refused')
  await context.close()
})
