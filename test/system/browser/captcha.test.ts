// Sign-up and sign-in with a captcha whose script, frame and data come from another origin.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkAccess, checkFits, newPerson, openSite, type Site, shoot } from '#test/support/browser/chromium.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'
import { type CaptchaService, startCaptchaService } from '#test/support/stand-ins/captcha-service.ts'

let service: CaptchaService
let site: Site
before(async () => {
  service = await startCaptchaService()
  site = await openSite(service.env)
})
after(async () => {
  service.close()
  await site?.close()
})

test('a person solves it on a phone, and the browser rejects nothing of it', async () => {
  const { context, page, problems } = await newPerson(site, { viewport: { width: 360, height: 720 } })
  await page.goto(`${site.url}/account/sign-up`)
  await page.locator('iframe[title=Captcha]').waitFor()
  await shoot(page, 'captcha-01-sign-up')
  await checkAccess(page)
  await checkFits(page)
  await page.getByLabel('Username').fill('solver')
  await page.getByLabel('Email address').fill('solver@example.org')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign up' }).click()
  await page.getByRole('heading', { name: 'Verify your email address' }).waitFor()
  await page.locator('.menu > summary').click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out.').waitFor()
  await page.locator('iframe[title=Captcha]').waitFor()
  await page.getByLabel('Username or email address').fill('solver')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Profile' }).waitFor()
  assert.deepEqual(
    service.asked.map((form) => form.get('response')),
    [service.solved, service.solved],
  )
  assert.deepEqual(problems, [])
  await context.close()
})

test('tells users without scripts why they cannot continue', async () => {
  const { context, page } = await newPerson(site, { javaScriptEnabled: false })
  await page.goto(`${site.url}/account/sign-up`)
  assert.match((await page.locator('noscript').textContent()) ?? '', /uses a captcha, which needs JavaScript/)
  await shoot(page, 'captcha-02-without-scripts')
  await context.close()
})
