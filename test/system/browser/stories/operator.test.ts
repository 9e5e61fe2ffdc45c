// The first day of an operator in a real browser, on a real server: from the link in the terminal to an instance with a name
// and a logo, legal pages, a mail server, a backup, a moderator and two-factor sign-in. All first steps are done at the end.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { checkAccess, checkFits, openBrowser, shoot, TIMEOUT_MS } from '#test/support/browser/chromium.ts'
import { PASSWORD } from '#test/support/http/account-steps.ts'
import { PNG } from '#test/support/http/forms.ts'
import { freePort } from '#test/support/processes/free-port.ts'
import { makeDataDir, type RunningDepot, startDepot } from '#test/support/processes/running-depot.ts'
import { startMailServer } from '#test/support/stand-ins/mail-server.ts'

const STEPS = 7
const PAGES = ['Rules', 'Terms', 'Privacy', 'Imprint', 'Contact']

const { dataDir, remove } = makeDataDir()
const target = mkdtempSync(join(tmpdir(), 'depot-backups-'))
const mail = await startMailServer()
const port = String(await freePort())
const url = `http://127.0.0.1:${port}`
const browser = await openBrowser()
let server: RunningDepot | undefined
after(async () => {
  await browser.close()
  await server?.stop()
  await mail.close()
  remove()
  rmSync(target, { recursive: true, force: true })
})

const press = (page: Page, name: string | RegExp): Promise<void> =>
  page
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first()
    .click()
const says = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor()

async function arrive(): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' })
  context.setDefaultTimeout(TIMEOUT_MS)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  return { page, problems }
}

/** Starts the server as an operator does in a terminal. */
async function start(more: Record<string, string> = {}): Promise<RunningDepot> {
  await server?.stop()
  server = await startDepot(dataDir, { LOG_FORMAT: 'text', PORT: port, BASE_URL: url, ...more })
  return server
}

/** Opens the first steps, which say how many are done, and follows the link of an open one. */
async function openStep(page: Page, done: number, step: string): Promise<void> {
  await page.goto(`${url}/operator/first-steps`)
  await says(page, `${done} of ${STEPS} done`)
  await page.locator('#checklist').getByRole('link', { name: step }).click()
}

async function signUp(page: Page, username: string): Promise<void> {
  await page.goto(url)
  await page.getByRole('link', { name: 'Sign up' }).first().click()
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Email address').fill(`${username}@example.org`)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('checkbox', { name: /Terms/ }).check()
  await press(page, 'Sign up')
  const verification = await mail.arrived(`To: ${username}@example.org`)
  const [link = ''] = /http\S+flow=\w+/.exec(verification.replaceAll('=\r\n', '').replaceAll('=3D', '=')) ?? []
  await page.goto(link)
}

test('an operator opens an instance on their first day', async () => {
  const { output } = await start()
  const { page, problems } = await arrive()
  let link: string | undefined
  while (link === undefined) {
    link = /http\S+\/account\/first-admin\?flow=\w+/.exec(output())?.[0]
    if (link === undefined) await page.waitForTimeout(50)
  }
  await page.goto(link)
  await page.getByLabel('Username').fill('olga')
  await page.getByLabel('Email address').fill('olga@example.org')
  await page.getByLabel('Password').fill(PASSWORD)
  await press(page, 'Create account')
  await page.waitForURL(`${url}/operator/first-steps`)
  await shoot(page, 'first-steps-empty')

  // The game versions first: whether the delivered list is current depends on the day of the test.
  await page.locator('#checklist').getByRole('link', { name: 'Current game versions' }).click()
  await page.getByRole('link', { name: 'Add tag' }).click()
  await page.getByLabel('Version', { exact: true }).fill('99.1')
  await press(page, 'Add tag')

  // A name and a logo.
  await page.goto(`${url}/operator/first-steps`)
  await page.getByLabel('Name', { exact: true }).fill('Lantern Hall')
  await press(page, 'Save')
  await openStep(page, 1, 'Name and logo')
  await page.getByLabel('New logo').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: PNG })
  await press(page, 'Save image')

  // The legal pages.
  await openStep(page, 2, 'Rules, Terms, Privacy')
  for (const name of PAGES) {
    await page.goto(`${url}/operator/pages`)
    await page.locator('main').getByRole('link', { name, exact: true }).click()
    await page.getByRole('textbox', { name }).fill(`# ${name}\n\nThis is the text of ${name}.`)
    await press(page, 'Publish version')
    await says(page, 'Version 1')
  }

  // Mail and backups need settings of the server. The pages name them, and the operator starts the server again.
  await openStep(page, 3, 'Backups')
  await says(page, 'BACKUP_TARGET')
  await openStep(page, 3, 'Email')
  await says(page, 'SMTP_URL')
  await start({ SMTP_URL: mail.url, MAIL_FROM: 'Lantern Hall <hall@example.org>', BACKUP_TARGET: target })
  await openStep(page, 3, 'Email')
  await press(page, 'Send a test email to me')
  await says(page, 'The mail server accepted the test email to olga@example.org')
  assert.match(await mail.arrived('To: olga@example.org'), /From: Lantern Hall/)
  await openStep(page, 4, 'Backups')
  await press(page, 'Back up now')
  const made = page.locator('#stored')
  while ((await made.count()) === 0 || !/complete|MiB|KiB/.test((await made.textContent()) ?? '')) {
    await page.waitForTimeout(200)
    await page.reload()
  }
  await shoot(page, 'first-backup')

  // Someone signs up on the branded instance, agrees to its terms, and becomes a moderator.
  const { page: other, problems: more } = await arrive()
  await signUp(other, 'mira')
  await other.goto(url)
  await other.getByRole('link', { name: 'Lantern Hall' }).first().waitFor()
  for (const name of PAGES) await other.locator('footer').getByRole('link', { name, exact: true }).waitFor()
  await openStep(page, 5, 'A moderator besides you')
  await page.getByRole('link', { name: 'mira', exact: true }).click()
  await page.getByRole('link', { name: 'Change role' }).click()
  await page.getByRole('radio', { name: /^Moderator/ }).check()
  // A confirmed password counts for ten minutes, which a slow machine can exceed.
  const password = page.locator('input[type=password]')
  if (await password.isVisible()) await password.fill(PASSWORD)
  await press(page, 'Change the role of mira')
  await page.waitForURL(/done=/)
  await other.goto(`${url}/moderation`)
  await says(other, 'Projects in review')

  // Two-factor sign-in.
  await openStep(page, 6, 'Two-factor sign-in of all admins')
  await page.waitForURL(/\/account\/security/)
  await password.waitFor()
  if ((await page.getByRole('button', { name: 'Turn on' }).count()) === 0) {
    await password.fill(PASSWORD)
    await password.press('Enter')
  }
  await press(page, 'Turn on')
  await page.getByText('Scan this QR code').waitFor()
  const key =
    ((await page.locator('main').textContent()) ?? '').match(/(?:[A-Z2-7]{4} ?){8,}/)?.[0] ?? assert.fail('no key')
  const code = new TOTP({ secret: Secret.fromBase32(key.replaceAll(' ', '')) }).generate()
  await page.getByLabel('Current code from the app').fill(code)
  await press(page, 'Turn on')
  await says(page, /backup codes/i)

  await page.goto(`${url}/operator/first-steps`)
  await says(page, `${STEPS} of ${STEPS} done`)
  await checkFits(page)
  await checkAccess(page)
  await shoot(page, 'first-steps-done')
  await page.goto(`${url}/operator`)
  assert.equal(await page.getByText('There is no backup').count(), 0)
  assert.equal(await page.getByText('Emails are not sent').count(), 0)
  assert.deepEqual([...problems, ...more], [])
})
