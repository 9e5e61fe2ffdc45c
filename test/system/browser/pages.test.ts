// Tasks of a user on the pages, in a real browser, with and without scripts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkAccess, checkFits, newPerson, openSite, type Site, shoot } from '#test/support/browser/chromium.ts'
import { WIDE } from '#test/support/browser/looks.ts'
import { mailsTo, makeMember, PASSWORD, totpCode } from '#test/support/http/account-steps.ts'
import { BASE } from '#test/support/http/oauth-steps.ts'

let site: Site
before(async () => {
  site = await openSite()
})
after(() => site.close())

async function submit(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('button', { name }).first().click()
  await page.waitForLoadState()
}

async function mailedLink(address: string, subject: RegExp): Promise<string> {
  const mail = (await mailsTo(site.t, address, subject)).at(-1) ?? ''
  return /^(http:\/\/\S+[?&]flow=\w+)\r$/m.exec(mail)?.[1] ?? assert.fail(mail)
}

async function apiStatus(token: string): Promise<number> {
  const answer = await fetch(`${site.url}/v3/user`, {
    headers: { authorization: token, 'user-agent': 'browser-tests' },
  })
  return answer.status
}

const LOOKS = [
  { name: 'dark-phone', javaScriptEnabled: true, colorScheme: 'dark', viewport: { width: 360, height: 720 } },
  { name: 'without-scripts', javaScriptEnabled: false, colorScheme: 'light', viewport: WIDE },
] as const

for (const { name, ...options } of LOOKS) {
  test(`a user signs up, verifies, creates a token and an application, authorizes it and revokes it (${name})`, async () => {
    const { context, page, problems } = await newPerson(site, options)
    const look = async (what: string) => {
      await shoot(page, `${name}-${what}`)
      await checkFits(page)
    }
    /** Looks at what no address shows. The tests in `looks` check the others. */
    const lookAtState = async (what: string) => {
      await look(what)
      // The checker itself is a script.
      if (options.javaScriptEnabled) await checkAccess(page)
    }
    const username = `person.${name}`
    const email = `${name}@example.org`

    await page.goto(`${site.url}/account`)
    await look('01-sign-in')
    await page.getByRole('link', { name: 'Sign up' }).click()
    await page.getByLabel('Username').fill(username)
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill('password123')
    await submit(page, 'Sign up')
    await lookAtState('02-sign-up-refused')
    await page.getByLabel('Password').fill(PASSWORD)
    await submit(page, 'Sign up')
    await page.getByRole('heading', { name: 'Verify your email address' }).waitFor()
    await look('03-check-mail')
    await page.getByRole('link', { name: 'Continue' }).click()
    await page.getByText('is not verified').waitFor()
    await lookAtState('03-profile-unverified')
    await page.goto(await mailedLink(email, /Verify/))
    await look('04-verify')
    await submit(page, 'Verify address')
    await page.getByText('Your email address is verified.').waitFor()

    await page.getByRole('link', { name: 'Access tokens' }).click()
    await look('05-tokens')
    await page.getByLabel('Name', { exact: true }).fill('My release script')
    if (options.javaScriptEnabled) await page.getByRole('button', { name: 'All' }).first().click()
    else await page.getByLabel('See your account').check()
    await submit(page, 'Review token')
    await submit(page, 'Create token')
    await lookAtState('06-token-made')
    const token = await page.getByLabel('Token', { exact: true }).inputValue()
    assert.match(token, /^dpp_/)
    assert.equal(await apiStatus(token), 200)
    assert.equal(await page.getByRole('button', { name: 'Copy' }).isVisible(), options.javaScriptEnabled)
    assert.ok(!page.url().includes(token))
    await page.getByRole('link', { name: 'Done' }).click()
    await look('07-token-list')

    await page.getByRole('link', { name: 'My applications' }).click()
    await page.getByRole('link', { name: 'New application' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Chart <b>Maker</b>')
    await page.getByLabel('Description').fill('Draws charts of your projects.')
    await page.getByLabel('Website').fill('https://charts.example.org/')
    await page.getByLabel('Redirect URLs').fill(site.callback)
    await page.getByLabel('See your account').check()
    await page.getByLabel('See your projects').check()
    await look('08-application-form')
    await submit(page, 'Create application')
    await lookAtState('09-application-made')
    const clientId = await page.getByLabel('Client ID').inputValue()
    const secret = await page.getByLabel('Client secret').inputValue()
    await page.getByRole('link', { name: 'Done' }).click()
    await look('10-application')

    const question = new URLSearchParams({ client_id: clientId, redirect_uri: site.callback, state: 'xyz' })
    await page.goto(`${site.url}${BASE}/authorize?${question}`)
    await look('11-consent')
    await submit(page, 'Allow')
    await page.getByRole('heading', { name: 'Back at the application' }).waitFor()
    const back = new URL(page.url()).searchParams
    assert.equal(back.get('state'), 'xyz')
    const answer = await fetch(`${site.url}${BASE}/token`, {
      method: 'POST',
      headers: { 'user-agent': 'browser-tests' },
      body: new URLSearchParams({
        client_id: clientId,
        client_secret: secret,
        code: back.get('code') ?? '',
        redirect_uri: site.callback,
      }),
    })
    const { access_token: allowed } = (await answer.json()) as { access_token: string }
    assert.equal(await apiStatus(allowed), 200)

    await page.goto(`${site.url}/account/authorizations`)
    await look('12-authorizations')
    await submit(page, 'Revoke')
    await page.getByText('no longer has access').waitFor()
    assert.equal(await apiStatus(allowed), 401)
    await page.goto(`${site.url}/account/tokens`)
    await submit(page, 'Revoke')
    assert.equal(await apiStatus(token), 401)

    await page.goto(`${site.url}/account/security`)
    await look('13-security')
    await submit(page, 'Turn on')
    assert.ok(await page.getByRole('img', { name: 'QR code' }).isVisible())
    await lookAtState('14-two-factor')
    const key = (await page.locator('#key').textContent())?.replaceAll(' ', '') ?? assert.fail('no key')
    await page.getByLabel('Current code from the app').fill(totpCode(site.t, key))
    await submit(page, 'Turn on')
    await page.getByText('Two-factor sign-in is on.').waitFor()
    await lookAtState('15-backup-codes')
    const backupCode = (await page.locator('.codes li').first().textContent()) ?? assert.fail('no code')
    await page.goto(`${site.url}/account/notifications`)
    await look('16-notifications')
    await page.goto(`${site.url}/account/data`)
    await look('17-data')
    await page.goto(`${site.url}/account/applications/zzzzzzzz`)
    await lookAtState('18-error')
    await page.goto(`${site.url}/account`)
    await page.locator('.menu > summary').click()
    await submit(page, 'Sign out')
    await page.getByText('You are signed out.').waitFor()
    await page.getByLabel('Username or email address').fill(username)
    await page.getByLabel('Password').fill(PASSWORD)
    await submit(page, 'Sign in')
    await lookAtState('19-second-factor')
    await page.getByLabel('Code', { exact: true }).fill(backupCode)
    await submit(page, 'Sign in')
    await page.getByRole('heading', { name: 'Profile' }).waitFor()
    await context.clearCookies()
    await page.goto(`${site.url}/account/forgot-password`)
    await look('20-forgotten-password')
    await page.getByLabel('Username or email address').fill(email)
    await submit(page, 'Request link')
    await lookAtState('21-message-sent')
    await page.goto(await mailedLink(email, /Reset/))
    await look('22-new-password')
    assert.deepEqual(problems, [])
    await context.close()
  })
}

test('a user who authorized an application before returns to it directly after sign-in', async () => {
  const member = await makeMember(site.t)
  const body = { name: 'Chart Maker', max_scopes: 2, redirect_uris: [site.callback] }
  const { id } = (await site.t.as(member).post(`${BASE}/app`, body)).json()
  const question = new URLSearchParams({ client_id: id, redirect_uri: site.callback })
  for (const javaScriptEnabled of [true, false]) {
    for (const isAsked of javaScriptEnabled ? [true, false] : [false]) {
      const { context, page, problems } = await newPerson(site, { javaScriptEnabled })
      await page.goto(`${site.url}${BASE}/authorize?${question}`)
      await page.getByLabel('Username or email address').fill(member.username)
      await page.getByLabel('Password').fill(PASSWORD)
      await submit(page, 'Sign in')
      if (isAsked) await submit(page, 'Allow')
      await page.getByRole('heading', { name: 'Back at the application' }).waitFor()
      assert.ok(new URL(page.url()).searchParams.has('code'))
      assert.deepEqual(problems, [])
      await context.close()
    }
  }
})

test('a refusal leads back with the error, and a script in a name is text', async () => {
  const member = await makeMember(site.t)
  const name = '<script>document.title = "taken over"</script>'
  const body = { name, max_scopes: 2, redirect_uris: [site.callback] }
  const { id } = (await site.t.as(member).post(`${BASE}/app`, body)).json()
  const { context, page, problems } = await newPerson(site)
  await context.addCookies([{ name: 'depot-session', value: member.token, url: site.url }])
  await page.goto(
    `${site.url}/account/authorize?${new URLSearchParams({ client_id: id, redirect_uri: site.callback })}`,
  )
  assert.ok(await page.getByRole('heading', { name }).isVisible())
  assert.notEqual(await page.title(), 'taken over')
  await submit(page, 'Deny')
  assert.equal(new URL(page.url()).searchParams.get('error'), 'access_denied')
  assert.deepEqual(problems, [])
  await context.close()
})

test('the answer reaches an installed program at a loopback address of any kind', async () => {
  const member = await makeMember(site.t)
  for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
    const program = createServer((_req, res) => void res.end('<!doctype html><h1>Back at the program</h1>'))
    program.listen(0, host === '[::1]' ? '::1' : host)
    await once(program, 'listening')
    program.unref()
    const registered = `http://${host}/callback`
    const body = { name: 'Launcher', max_scopes: 2, redirect_uris: [registered] }
    const { id } = (await site.t.as(member).post(`${BASE}/app`, body)).json()
    const { context, page, problems } = await newPerson(site)
    await context.addCookies([{ name: 'depot-session', value: member.token, url: site.url }])
    const { port } = program.address() as AddressInfo
    const question = new URLSearchParams({ client_id: id, redirect_uri: registered.replace(host, `${host}:${port}`) })
    await page.goto(`${site.url}/account/authorize?${question}`)
    await submit(page, 'Allow')
    assert.deepEqual(problems, [], host)
    await page.getByRole('heading', { name: 'Back at the program' }).waitFor()
    assert.equal(new URL(page.url()).host, `${host}:${port}`)
    await context.close()
  }
})

test('a user chooses an image, and the page shows it', async () => {
  const member = await makeMember(site.t)
  const { context, page, problems } = await newPerson(site)
  await context.addCookies([{ name: 'depot-session', value: member.token, url: site.url }])
  await page.goto(`${site.url}/account`)
  const buffer = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="teal"/></svg>',
  )
  await page.getByLabel('New image').setInputFiles({ name: 'me.svg', mimeType: 'image/svg+xml', buffer })
  await submit(page, 'Save image')
  await page.getByText('The image was changed.').waitFor()
  await page.waitForFunction("document.querySelector('img.face.large')?.naturalWidth > 0")
  await site.t.runJobs()
  assert.deepEqual(problems, [])
  await context.close()
})
