// A report and its takedown in a real browser.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkAccess, newPerson, openSite, type Site, shoot, signIn } from '#test/support/browser/chromium.ts'
import { WIDE } from '#test/support/browser/looks.ts'
import type { Person } from '#test/support/factories/factories.ts'

let site: Site
let moderator: Person
let reporter: Person
before(async () => {
  site = await openSite()
  moderator = await site.t.make.account({ role: 'moderator', username: 'mira' })
  reporter = await site.t.make.account({ username: 'hollis' })
})
after(() => site?.close())

test('a report is closed and a project taken down', async () => {
  const { t, url } = site
  const project = await t.make.project({ name: 'Torch' })
  const input = { report_type: 'spam', item_type: 'project', item_id: project.id, body: 'Only advertising' }
  const { id } = (await t.as(reporter).post('/v3/report', input)).json()
  const { context, page } = await newPerson(site, { viewport: WIDE })
  await signIn(site, context, moderator.token)
  await page.goto(`${url}/moderation/reports/${id}`)
  await page.getByText('Take the item down').click()
  await page.getByRole('link', { name: 'Preview and more options' }).click()
  await page.getByLabel('Message to the members').fill('Please remove the advertising.')
  await page.getByRole('button', { name: 'Preview takedown' }).click()
  await page.getByText('1 project will be rejected and hidden.').waitFor()
  await shoot(page, 'takedown-preview')
  await checkAccess(page, { isStrict: true })
  await page.getByRole('button', { name: 'Take down', exact: true }).click()
  await page.getByText('The content is taken down.').waitFor()
  await shoot(page, 'takedown-result')
  await page.getByRole('link', { name: 'Back to the report' }).click()
  await page.getByLabel('Led to action').check()
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await page.getByText('The selected reports are closed.').waitFor()
  assert.equal((await t.as(moderator).get(`/v3/project/${project.id}`)).json().status, 'rejected')
  const closed = (await t.as(reporter).get(`/v3/report/${id}`)).json()
  assert.deepEqual([closed.closed, closed.outcome], [true, 'action'])
  await context.close()
})
