// Notifications by email in a real browser without scripts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unsubscribeLink } from '#features/people/notifications/emails/unsubscribe.ts'
import { newPerson, openSite, signIn } from '#test/support/browser/chromium.ts'

test('without scripts, an email is turned off by its link, and the setting shows it', async () => {
  const site = await openSite()
  const person = await site.t.make.account()
  const link = await unsubscribeLink(site.t.deps.db, { baseUrl: site.url, user: person.id, kind: 'project_status' })
  const { context, page, problems } = await newPerson(site, { javaScriptEnabled: false })
  await page.goto(link)
  await page.getByRole('button', { name: 'Turn off' }).click()
  await page.getByText('You no longer receive these emails.').waitFor()
  await signIn(site, context, person.token)
  await page.goto(`${site.url}/account/notifications`)
  const box = page.getByLabel('Decisions of moderators about your projects')
  assert.equal(await box.isChecked(), false)
  await box.check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Your email settings were saved.').waitFor()
  assert.equal(await box.isChecked(), true)
  assert.deepEqual(problems, [])
  await context.close()
  await site.close()
})
