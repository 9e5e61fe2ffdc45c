// Lists in place, their sheet on telephones, suggestions and shortcuts in a real browser, with and without scripts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { checkAccess, checkFits, newPerson, openSite, type Site, shoot } from '#test/support/browser/chromium.ts'
import { NARROW, WIDE } from '#test/support/browser/looks.ts'
import { makeSitePages } from '#test/support/pages/site-pages.ts'

let site: Site
before(async () => {
  site = await openSite()
  await makeSitePages(site.t)
})
after(() => site?.close())

async function open(path: string, options: BrowserContextOptions = {}) {
  const person = await newPerson(site, { viewport: WIDE, ...options })
  await person.page.goto(`${site.url}${path}`)
  return person
}

const box = (page: Page, name: string, value: string) => page.locator(`[data-facet=${name}] .in[value="${value}"]`)
const heading = (page: Page) => page.locator('#found').textContent()
const queryOf = (page: Page) => new URL(page.url()).search
/** Marks the document, so that a reload is noticed. */
const mark = (page: Page) => page.evaluate('document.documentElement.dataset.same = "yes"')
const isSame = async (page: Page) => (await page.locator('html').getAttribute('data-same')) === 'yes'

/** Waits until the list is that of the address. */
async function settled(page: Page, query: string | RegExp): Promise<void> {
  await page.waitForURL((url) => (typeof query === 'string' ? url.search === query : query.test(url.search)))
  await page.locator('#live:not([aria-busy])').waitFor()
}

test('a filter replaces the list, and keeps focus, scroll position, open groups and the address', async () => {
  const { context, page, problems } = await open('/mods')
  await mark(page)
  await page.locator('[data-facet=u] summary').click()
  const fabric = box(page, 'l', 'fabric')
  await fabric.scrollIntoViewIfNeeded()
  const top = await page.evaluate('scrollY')
  const expected = await fabric.locator('xpath=..').locator('.n').textContent()
  const [answer] = await Promise.all([page.waitForResponse(/part=list/), fabric.press('Space')])
  await settled(page, '?l=fabric')
  assert.equal(await isSame(page), true)
  assert.equal(await page.evaluate('document.activeElement.value'), 'fabric')
  assert.equal(await page.evaluate('scrollY'), top)
  assert.equal(await page.locator('[data-facet=u]').getAttribute('open'), '')
  assert.ok((await heading(page))?.startsWith(`${expected} mod`))
  assert.equal(await page.locator('#said').textContent(), await heading(page))
  assert.ok((await page.title()).startsWith((await heading(page)) ?? ''))
  assert.equal(await page.locator('#filters > summary .n').textContent(), '1 selected')
  assert.match((await page.locator('.types a').nth(1).getAttribute('href')) ?? '', /\/mods\?l=fabric$/)
  assert.equal(await page.locator('footer input[name=return]').getAttribute('value'), '/mods?l=fabric')
  assert.match((await page.locator('header .button').getAttribute('href')) ?? '', /return=%2Fmods%3Fl%3Dfabric$/)
  assert.ok(answer.headers()['cache-control']?.includes('must-revalidate'))
  const fresh = await context.newPage()
  await fresh.goto(page.url())
  for (const part of ['.hits', '.pages', '.types'])
    assert.equal(await page.locator(part).textContent(), await fresh.locator(part).textContent(), part)
  assert.deepEqual(problems, [])
  await context.close()
})

test('Back and Forward lead through ten changes, with the filters of each', async () => {
  const { context, page } = await open('/mods')
  await mark(page)
  const seen: { query: string; heading: string | null }[] = [{ query: '', heading: await heading(page) }]
  const steps: (() => Promise<unknown>)[] = [
    () => box(page, 'l', 'fabric').check(),
    () => box(page, 'o', 'open').check(),
    () => page.locator('#sort').selectOption('newest'),
    () => box(page, 'e', 'client').check(),
    () => box(page, 'l', 'fabric').uncheck(),
    () => page.locator('[data-facet=o] .out').first().check({ force: true }),
    () => page.locator('.picked a').first().click(),
    () => page.locator('#sort').selectOption('updated'),
    () => page.locator('.tools a').first().click(),
    () => page.locator('.picked .clear').click(),
  ]
  for (const step of steps) {
    const before = page.url()
    await step()
    await page.waitForURL((url) => url.href !== before)
    await page.locator('#live:not([aria-busy])').waitFor()
    seen.push({ query: queryOf(page), heading: await heading(page) })
  }
  const check = async ({ query, heading: title }: (typeof seen)[number]) => {
    await settled(page, query)
    await page.getByRole('heading', { level: 1, name: title ?? '', exact: true }).waitFor()
    const chosen = await page
      .locator('[data-facet] input:checked')
      .evaluateAll((all) =>
        all.map(
          (each) => `${(each as unknown as { name: string }).name}=${(each as unknown as { value: string }).value}`,
        ),
      )
    const expected = [...new URLSearchParams(query)].filter(([name]) => /^[clveou]$/.test(name))
    assert.deepEqual(chosen.toSorted(), expected.map(([name, value]) => `${name}=${value}`).toSorted(), query)
    assert.equal(await page.locator('#sort').inputValue(), new URLSearchParams(query).get('sort') ?? 'downloads')
  }
  for (const state of seen.toReversed().slice(1)) {
    await page.goBack()
    await check(state)
  }
  for (const state of seen.slice(1)) {
    await page.goForward()
    await check(state)
  }
  assert.equal(await isSame(page), true)
  await context.close()
})

test('another page of the list begins at its heading, and a setup applies immediately', async () => {
  const { context, page } = await open('/search')
  await mark(page)
  await page.locator('.pages a', { hasText: 'Next' }).click()
  await settled(page, '?page=2')
  assert.equal(await page.evaluate('document.activeElement.id'), 'found')
  assert.ok(await page.evaluate('document.getElementById("live").getBoundingClientRect().top < 200'))
  await page.locator('#setup select[name=loader]').selectOption('fabric')
  await page.getByRole('heading', { name: /projects? for Fabric$/ }).waitFor()
  assert.equal(queryOf(page), '')
  await page.locator('.picked a').first().click()
  await settled(page, '?setup=any')
  await page.locator('#setup select[name=game_version]').selectOption('1.21.4')
  await page.getByRole('heading', { name: /for 1\.21\.4 on Fabric$/ }).waitFor()
  assert.equal(await isSame(page), true)
  assert.equal(await page.locator('#setup button').isVisible(), false)
  await context.close()
})

test('arrow keys in a select do not send it; Enter and the next field do', async () => {
  const { context, page } = await open('/mods')
  let requests = 0
  page.on('request', (request) => {
    if (request.url().includes('part=')) requests += 1
  })
  const sort = page.locator('#sort')
  await sort.focus()
  for (let press = 0; press < 3; press += 1) await page.keyboard.press('ArrowDown')
  assert.equal(requests, 0)
  const chosen = await sort.inputValue()
  assert.notEqual(chosen, 'downloads')
  await page.keyboard.press('Enter')
  await settled(page, `?sort=${chosen}`)
  assert.equal(await page.evaluate('document.activeElement.id'), 'sort')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Tab')
  await page.waitForURL((url) => url.search !== `?sort=${chosen}`)
  assert.equal(requests, 2)
  // Elsewhere, such a form leaves the page: its button appears.
  await page.locator('#theme').focus()
  await page.keyboard.press('ArrowDown')
  await page.locator('footer button').waitFor()
  await context.close()
})

test('earlier results are dimmed, a late answer is discarded, and a failure is reported next to the list', async () => {
  const { context, page } = await open('/mods')
  const releases: (() => void)[] = []
  const allSent = Promise.withResolvers<void>()
  await page.route(/part=list/, async (route) => {
    await new Promise<void>((resolve) => {
      if (releases.push(resolve) === 3) allSent.resolve()
    })
    await route.continue().catch(() => {})
  })
  await box(page, 'l', 'fabric').check()
  await page.locator('#live[aria-busy]').waitFor()
  assert.equal(queryOf(page), '')
  await box(page, 'l', 'fabric').uncheck()
  await box(page, 'o', 'open').check()
  await allSent.promise
  for (const release of releases.toReversed()) release()
  await settled(page, '?o=open')
  await page.unroute(/part=list/)
  await context.setOffline(true)
  await box(page, 'l', 'fabric').check()
  const note = page.getByRole('alert')
  await note.waitFor()
  assert.equal(queryOf(page), '?o=open')
  assert.match((await note.textContent()) ?? '', /could not be loaded/)
  await shoot(page, 'list-failed')
  await checkAccess(page, { isStrict: true })
  await context.setOffline(false)
  await note.getByRole('button').click()
  await settled(page, '?l=fabric&o=open')
  await note.waitFor({ state: 'hidden' })
  await context.close()
})

test('telephones show the filters in a sheet with a button that names the number of projects', async () => {
  const { context, page, problems } = await open('/mods', { viewport: NARROW })
  await mark(page)
  assert.equal(await page.locator('#choices').isVisible(), false)
  await page.locator('#filters > summary').click()
  const sheet = page.getByRole('dialog')
  const see = sheet.locator('.drawer-foot button')
  await box(page, 'l', 'fabric').check()
  await settled(page, '?l=fabric')
  const count = (await heading(page))?.match(/\d+/)?.[0]
  assert.equal(await see.textContent(), `Show ${count} projects`)
  await shoot(page, 'list-sheet')
  await checkAccess(page, { isStrict: true })
  await checkFits(page)
  await see.click()
  await sheet.waitFor({ state: 'hidden' })
  assert.equal(await page.evaluate('document.activeElement.id'), 'found')
  await page.locator('#filters > summary').click()
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'hidden' })
  assert.equal(await page.evaluate('document.activeElement.localName'), 'summary')
  assert.equal(await isSame(page), true)
  assert.deepEqual(problems, [])
  await context.close()
})

test('without scripts, filters, order, setup and pages work as forms and links', async () => {
  const { context, page } = await open('/mods', { viewport: NARROW, javaScriptEnabled: false })
  await page.locator('#filters > summary').click()
  await box(page, 'l', 'fabric').check()
  await page.locator('#choices > button').click()
  assert.equal(queryOf(page), '?l=fabric')
  assert.match((await heading(page)) ?? '', /mods?$/)
  await page.locator('#sort').selectOption('newest')
  await page.locator('.tools button').click()
  assert.equal(queryOf(page), '?l=fabric&sort=newest')
  await page.locator('.picked a').first().click()
  assert.equal(queryOf(page), '?sort=newest')
  await page.locator('#setup select[name=loader]').selectOption('fabric')
  await page.locator('#setup button').click()
  await page.getByRole('heading', { name: /for Fabric$/ }).waitFor()
  assert.equal(await page.locator('#failed').isVisible(), false)
  await page.locator('.find input').fill('a')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/search\?q=a$/)
  await context.close()
})

test('suggestions appear while typing, and work with the keyboard and for screen readers', async () => {
  // Suggestions are cached.
  const users = new Map<number, { username: string }>()
  for (const { width } of [WIDE, NARROW]) users.set(width, await site.t.make.account({ username: `fabrizio${width}` }))
  for (const viewport of [WIDE, NARROW]) {
    const { context, page, problems } = await open('/', { viewport })
    const user = users.get(viewport.width) ?? assert.fail()
    const field = page.getByRole('combobox', { name: 'Search projects' })
    assert.equal(await field.getAttribute('aria-expanded'), 'false')
    await page.keyboard.press('/')
    await page.keyboard.type('fabri', { delay: 20 })
    const list = page.getByRole('listbox')
    await list.getByRole('option', { name: 'Fabric', exact: true }).waitFor()
    assert.equal(await field.getAttribute('aria-expanded'), 'true')
    await list.getByRole('option', { name: `fabrizio${viewport.width}` }).waitFor()
    assert.match((await page.locator('.find [role=status]').textContent()) ?? '', /suggestions$/)
    await shoot(page, `suggestions-${viewport.width}`)
    await checkAccess(page, { isStrict: true })
    await page.keyboard.press('ArrowUp')
    const last = list.getByRole('option').last()
    assert.equal(await field.getAttribute('aria-activedescendant'), await last.getAttribute('id'))
    assert.equal(await last.getAttribute('aria-selected'), 'true')
    await page.keyboard.press('ArrowDown')
    assert.equal(await field.getAttribute('aria-activedescendant'), null)
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'hidden' })
    assert.equal(await field.inputValue(), 'fabri')
    await field.fill(user.username)
    await list.getByRole('option', { name: user.username, exact: true }).click()
    await page.waitForURL(`${site.url}/user/${user.username}`)
    assert.deepEqual(problems, [])
    await context.close()
  }
})

test('with the keyboard alone, a visitor finds, filters, downloads and follows', async () => {
  const { context, page } = await open('/')
  await page.keyboard.press('/')
  await page.keyboard.type('a')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/search\?q=a/)
  await tabTo(page, '[data-facet=l] .in[value=fabric]')
  await page.keyboard.press('Space')
  await settled(page, /l=fabric/)
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  const second = await page.locator('.hit h2 > a').nth(1).getAttribute('href')
  assert.equal(await page.evaluate('document.activeElement.getAttribute("href")'), second)
  await page.keyboard.press('k')
  const first = await page.locator('.hit h2 > a').first().getAttribute('href')
  assert.equal(await page.evaluate('document.activeElement.getAttribute("href")'), first)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${site.url}${first}`)
  await tabTo(page, 'a[download], a.button[href*="/data/"]')
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
  assert.match(download.url(), /\/data\//)
  await tabTo(page, 'main a[href*="/account/sign-in"]')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/account\/sign-in\?return=/)
  await context.close()
})

/** Presses Tab until an element with the selector has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let press = 0; press < 120; press += 1) {
    await page.keyboard.press('Tab')
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
  }
  assert.fail(`Tab never reaches ${selector}`)
}

test('the outline of headings, landmarks and live regions leads through a list and a project', async () => {
  const { context, page } = await open('/mods')
  for (const role of ['banner', 'search', 'main', 'contentinfo'] as const)
    assert.equal(await page.getByRole(role).count(), 1, role)
  await page.getByRole('navigation', { name: 'Project types' }).waitFor()
  const filters = page.getByRole('region', { name: 'Filters' })
  const results = page.getByRole('region', { name: (await heading(page)) ?? '' })
  await filters.getByRole('checkbox', { name: /^Fabric/ }).check()
  await settled(page, '?l=fabric')
  assert.equal(await page.locator('[role=status]#said').textContent(), await heading(page))
  assert.equal(await results.count(), 0, 'the region has the new heading as its name')
  const levels = await page.locator('h1, h2, h3').evaluateAll((all) => all.map(({ localName }) => localName))
  assert.equal(levels.filter((level) => level === 'h1').length, 1)
  const project = page.getByRole('heading', { level: 2 }).getByRole('link').first()
  const name = (await project.textContent()) ?? ''
  await project.click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  assert.ok((await page.getByRole('link', { name: /Download/ }).count()) > 0)
  assert.ok(
    (await page
      .getByRole('main')
      .getByRole('link', { name: /Follow/ })
      .count()) > 0,
  )
  await context.close()
})

test('a visitor can turn the shortcuts of single letters off', async () => {
  const { context, page } = await open('/mods')
  await page.locator('footer .keys input').uncheck()
  await page.locator('h1').click()
  await page.keyboard.press('/')
  await page.keyboard.press('j')
  assert.equal(await page.evaluate('document.activeElement.localName'), 'body')
  assert.equal(new URL(page.url()).pathname, '/mods')
  await page.reload()
  assert.equal(await page.locator('footer .keys input').isChecked(), false)
  await context.close()
})

test('nothing but the list moves when a filter changes', async () => {
  for (const viewport of [WIDE, NARROW]) {
    const { context, page } = await open('/mods', { viewport })
    await page.evaluate(`{
      window.shift = 0
      new PerformanceObserver((list) => { for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shift += value })
        .observe({ type: 'layout-shift', buffered: true })
    }`)
    await page.locator('#sort').selectOption('newest')
    await settled(page, '?sort=newest')
    const shift = Number(await page.evaluate('window.shift'))
    assert.ok(shift < 0.02, `shifts by ${shift}`)
    await context.close()
  }
})
