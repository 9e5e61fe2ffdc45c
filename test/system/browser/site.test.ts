// The public site in a real browser: narrow windows, large text, hues, the resources that its pages load, and tasks of users.
import assert from 'node:assert/strict'
import { get } from 'node:http'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { BYPASS_KEY } from '#test/support/app/test-app.ts'
import {
  checkAccess,
  checkFits,
  newPerson,
  openSite,
  type Site,
  shoot,
  signIn,
} from '#test/support/browser/chromium.ts'
import { NARROW, WIDE } from '#test/support/browser/looks.ts'
import { measurePaint } from '#test/support/browser/paint.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'
import { makeSitePages, type SitePages } from '#test/support/pages/site-pages.ts'

let site: Site
let all: SitePages
before(async () => {
  site = await openSite()
  all = await makeSitePages(site.t)
})
after(() => site?.close())

/** The least contrast of links, buttons and notes, by theme and hue; the page's own style says the colours. */
const LEAST_CONTRASTS = `(() => {
  const root = document.documentElement
  const probe = document.body.appendChild(document.createElement('i'))
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const luminance = (name) => {
    probe.style.color = 'var(--' + name + ')'
    canvas.fillStyle = getComputedStyle(probe).color
    canvas.fillRect(0, 0, 1, 1)
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
      const part = value / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const pairs = [['brand', 'ground'], ['brand', 'sheet'], ['brand', 'brand-soft'], ['brand-ink', 'brand'], ['ink', 'brand-soft']]
  const found = []
  for (const theme of ['light', 'dark']) for (let hue = 0; hue < 360; hue += 15) {
    root.dataset.theme = theme
    root.className = 'h' + hue
    const contrasts = pairs.map(([one, other]) => {
      const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
      return (light + 0.05) / (dark + 0.05)
    })
    found.push([theme + ' ' + hue, Math.min(...contrasts), getComputedStyle(document.querySelector('.announcement .i')).color])
  }
  return found
})()`

test('links and buttons can be read in each hue that an operator can choose', async () => {
  const { context, page, problems } = await newPerson(site, { viewport: WIDE })
  await page.goto(`${site.url}/about`)
  const found = (await page.evaluate(LEAST_CONTRASTS)) as [string, number, string][]
  assert.equal(found.length, 48)
  assert.equal(new Set(found.map(([, , shown]) => shown)).size, 48, 'the hue is what is shown')
  const unreadable = found.filter(([, contrast]) => !(contrast >= 4.5))
  assert.deepEqual(unreadable, [])
  assert.deepEqual(problems, [])
  await context.close()
})

test('the script hides the announcement in this browser, without a request and before the next page is painted', async () => {
  const { context, page } = await newPerson(site, { viewport: WIDE })
  await page.goto(`${site.url}/`)
  const posts: string[] = []
  page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()))
  await page.getByRole('button', { name: 'Hide this announcement' }).press('Enter')
  assert.equal(await page.locator('.announcement').count(), 0)
  await page.goto(`${site.url}/about`)
  assert.equal(await page.locator('.announcement').count(), 0)
  assert.deepEqual(posts, [])
  await context.close()
})

test('choosing a loader alone narrows a list without a button', async () => {
  const { context, page } = await newPerson(site, { viewport: WIDE })
  await page.goto(`${site.url}/mods`)
  await page.locator('#setup select[name=loader]').selectOption('fabric')
  await page.getByRole('heading', { name: /mods? for Fabric$/ }).waitFor()
  assert.equal(await page.locator('#setup select[name=loader]').inputValue(), 'fabric')
  assert.equal(await page.locator('#setup button').isVisible(), false)
  await context.close()
})

/** The narrowest window, and one that is as wide as it is with text twice as large. */
async function checkTiny(page: Page, name: string): Promise<void> {
  await shoot(page, `${name}-tiny`)
  await checkFits(page)
  await page.setViewportSize({ width: 780, height: 900 })
  await page.evaluate("document.documentElement.style.fontSize = '200%'")
  await shoot(page, `${name}-large`)
  await checkFits(page)
  await page.setViewportSize({ width: 320, height: 900 })
}

test('a page for visitors fits 320 pixels, and text twice as large; is valid HTML; loads little, and nothing from elsewhere', async () => {
  const { context, page } = await newPerson(site, { viewport: { width: 320, height: 900 } })
  await context.addCookies([{ name: 'depot-language', value: 'de', url: site.url }])
  const assets = new Map<string, string>()
  for (const { name, path, by } of all.pages) {
    if (by !== undefined) continue
    const requests: { address: string; type: string }[] = []
    const note = (request: { url(): string; resourceType(): string }) =>
      requests.push({ address: request.url(), type: request.resourceType() })
    page.on('request', note)
    const answer = await page.goto(`${site.url}${path}`, { waitUntil: 'load' })
    page.off('request', note)
    assertValidHtml((await answer?.text()) ?? '', path)
    const english = await fetch(`${site.url}${path}`, { headers: { accept: 'text/html' } })
    assertValidHtml(await english.text(), `${path} in English`)
    assert.deepEqual(
      requests.filter(({ address }) => new URL(address).origin !== site.url).map(({ address }) => address),
      [],
      path,
    )
    // Pages with code load its typeface as well, and the page of packs its script. The browser requests the icon of its tab
    // again whenever it wants.
    const own = requests.filter(
      ({ type, address }) => type !== 'image' && !/\/assets\/(hyperlegible-mono|mark|pack)\b/.test(address),
    )
    assert.ok(own.length <= 6, `${path} loads ${own.map(({ address }) => address).join(' ')}`)
    const weight = await compressedBytes(`${site.url}${path}`)
    assert.ok(weight <= 12 * 1024, `${path} weighs ${weight}`)
    for (const { address, type } of own) assets.set(address, type)
    await checkTiny(page, name)
  }
  for (const [type, kilobytes] of [
    ['stylesheet', 9.5],
    ['script', 6],
  ] as const) {
    const addresses = [...assets].filter(([, each]) => each === type).map(([address]) => address)
    assert.equal(addresses.length, 1, `the pages share one ${type}: ${addresses}`)
    const weight = await compressedBytes(addresses[0] ?? '')
    assert.ok(weight <= kilobytes * 1024, `the ${type} weighs ${weight}`)
  }
  await context.close()
})

test('the first visit of a project page makes 6 requests', async () => {
  const project = await site.t.make.project({ slug: 'plain-words', name: 'Plain words' })
  await site.t.make.version({ project })
  // A new context has nothing in its cache.
  const { context, page } = await newPerson(site, { viewport: WIDE })
  const addresses: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    // The browser requests the icon of its tab again whenever it wants.
    if (!/\/assets\/mark\b/.test(pathname)) addresses.push(pathname)
  })
  await page.goto(`${site.url}/mod/plain-words`, { waitUntil: 'networkidle' })
  assert.ok(addresses.includes('/mod/plain-words'))
  assert.ok(addresses.length <= 6, addresses.join(' '))
  await context.close()
})

test('nothing moves on a page that arrives over a slow line', async () => {
  const headers = { 'x-ratelimit-key': BYPASS_KEY }
  for (const width of [WIDE.width, NARROW.width]) {
    for (const path of ['/', '/search?q=a', all.project]) {
      const { shift, largestMs } = await measurePaint(site.browser, `${site.url}${path}`, { width, headers })
      assert.ok(largestMs > 0, `${path} shows something`)
      assert.ok(
        // A line of a card can wrap in the fallback font alone. Which cards the home page shows depends on the day.
        shift <= 0.02,
        `${path} at ${width} pixels shifts by ${shift}. Is the fallback font installed (fonts-liberation)?`,
      )
    }
  }
})

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts'

  test(`who is not signed in is led through that and back, and then follows, saves and reports (${how})`, async () => {
    const person = await site.t.make.account()
    const { context, page, problems } = await newPerson(site, { javaScriptEnabled })
    await page.goto(`${site.url}${all.project}`)
    if (javaScriptEnabled) {
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByRole('button', { name: /^Share / }).click()
      await page.getByRole('status').filter({ hasText: 'The link was copied' }).waitFor()
      const box = await page.getByText('The link was copied').boundingBox()
      assert.ok((box?.width ?? 0) > 20, 'the confirmation is visible')
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), `${site.url}${all.project}`)
    }
    await page.getByRole('link', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.match(page.url(), new RegExp(`return=${encodeURIComponent(`${all.project}/save`)}`))
    await signIn(site, context, person.token)
    await page.goto(`${site.url}${all.project}`)
    await page.getByRole('button', { name: 'Follow', exact: true }).click()
    await page.getByRole('button', { name: 'Following' }).waitFor()
    await page.getByRole('link', { name: 'Save', exact: true }).click()
    await page.getByLabel('Name of a new collection').fill('Liked')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(`${site.url}${all.project}?done=collected`)
    await page.getByRole('link', { name: 'Save', exact: true }).click()
    assert.equal(await page.getByRole('checkbox', { name: 'Liked' }).isChecked(), true)
    await page.goto(`${site.url}${all.project}`)
    await page.getByRole('link', { name: /^Report/ }).click()
    await page.getByLabel('Reason').selectOption('spam')
    await page.getByLabel('Description of the problem').fill('It is the same as another.')
    await page.getByRole('button', { name: 'Send report' }).click()
    await page.getByText('Moderators have received your report').waitFor()
    await shoot(page, `reported-${javaScriptEnabled ? 'scripts' : 'plain'}`)
    if (javaScriptEnabled) await checkAccess(page, { isStrict: true })
    assert.deepEqual(problems, [])
    await context.close()
  })
}

test('the keyboard alone suffices, and the focus can be seen', async () => {
  const { context, page } = await newPerson(site)
  await page.goto(`${site.url}/mods`)
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.className'), 'skip')
  await page.keyboard.press('Enter')
  await page.waitForURL(/#content$/)
  await page.keyboard.press('/')
  assert.equal(await page.evaluate('document.activeElement.id'), 'q')
  await page.keyboard.type('a')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/search\?q=a/)
  const seen = new Set<string>()
  for (let step = 0; step < 400; step += 1) {
    await page.keyboard.press('Tab')
    const at = (await page.evaluate(`(() => {
      const element = document.activeElement
      const shown = element.closest('.hit, label, .not') ?? element
      const style = getComputedStyle(element)
      const around = getComputedStyle(shown)
      const hasMark = [style, around].some((one) => one.outlineStyle !== 'none' && one.outlineWidth !== '0px')
      return [element.tagName, element.getAttribute('href') ?? element.name ?? element.className, hasMark]
    })()`)) as [string, string, boolean]
    if (at[0] === 'BODY') break
    assert.equal(at[2], true, `no mark at ${at[0]} ${at[1]}`)
    seen.add(at[1])
  }
  const links = (await page.evaluate(
    `[...document.querySelectorAll('main a[href]')].filter((one) => one.checkVisibility()).map((one) => one.getAttribute('href'))`,
  )) as string[]
  assert.deepEqual(
    links.filter((href) => !seen.has(href)),
    [],
  )
  await context.close()
})

/** Returns the compressed size of a document; fetch would decompress it. */
function compressedBytes(address: string): Promise<number> {
  const headers = { accept: 'text/html', 'accept-encoding': 'br', 'user-agent': 'Mozilla/5.0' }
  return new Promise((resolve, reject) => {
    get(address, { headers }, (answer) => {
      assert.equal(answer.headers['content-encoding'], 'br', address)
      let bytes = 0
      answer.on('data', (piece: Buffer) => {
        bytes += piece.length
      })
      answer.on('end', () => resolve(bytes))
    }).on('error', reject)
  })
}
