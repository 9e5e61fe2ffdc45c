// The public site in print, with forced colours, with reduced motion, and its header in the narrowest windows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { updateSettings } from '#features/basics/settings/update-settings.ts'
import { newPerson, openSite, type Site, shoot, signIn, tooWide } from '#test/support/browser/chromium.ts'
import { WIDE } from '#test/support/browser/looks.ts'
import { makeSitePages, type SitePages } from '#test/support/pages/site-pages.ts'

let site: Site
let all: SitePages
before(async () => {
  site = await openSite()
  all = await makeSitePages(site.t)
})
after(() => site?.close())

/** Elements that are shown although nobody can use them on paper. */
const CONTROLS = `[...document.querySelectorAll('button, select, input, summary, .tabs, header, footer, .button:not([download])')]
  .filter((one) => one.checkVisibility() && one.closest('details[open], li > details, .vh') === null)
  .map((one) => one.outerHTML.slice(0, 80))`

test('print shows the content of each page without its controls, in light colours', async () => {
  const { context, page } = await newPerson(site, { viewport: { width: 794, height: 1123 }, colorScheme: 'dark' })
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  for (const path of ['/', '/mods', all.project, `${all.project}/versions`, `${all.project}/statistics`]) {
    await page.goto(`${site.url}${path}`)
    await shoot(page, `print${path.replace(/\W+/g, '-')}`)
    assert.deepEqual(await page.evaluate(CONTROLS), [], path)
    const ink = 'getComputedStyle(document.querySelector("h1")).color'
    const [lightness = 1] = (String(await page.evaluate(ink)).match(/[\d.]+/g) ?? []).map(Number)
    assert.ok(lightness < (String(await page.evaluate(ink)).startsWith('oklch') ? 0.5 : 128), path)
  }
  await context.close()
})

test('with forced colours, what is chosen differs from what is not', async () => {
  const { context, page } = await newPerson(site, { viewport: WIDE, forcedColors: 'active' })
  await page.goto(`${site.url}/mods`)
  await shoot(page, 'forced-list')
  const styleOf = (selector: string) =>
    page.evaluate(`(() => {
      const { outlineStyle, borderTopStyle } = getComputedStyle(document.querySelector(${JSON.stringify(selector)}))
      return { outlineStyle, borderTopStyle }
    })()`) as Promise<{ outlineStyle: string; borderTopStyle: string }>
  const tabs = [await styleOf('.tabs [aria-current]'), await styleOf('.tabs a:not([aria-current])')]
  assert.notDeepEqual(tabs[0], tabs[1])
  await page.goto(`${site.url}${all.project}`)
  await shoot(page, 'forced-project')
  assert.notEqual((await styleOf('.get .button.main')).borderTopStyle, 'none')
  await context.close()
})

test('with reduced motion, nothing moves', async () => {
  const MOVING = `[...document.querySelectorAll('*')].filter((one) => ['', '::before', '::after'].some((part) => {
    const { transitionDuration, animationName } = getComputedStyle(one, part || undefined)
    return transitionDuration.split(', ').some((each) => each !== '0s') || animationName !== 'none'
  })).map((one) => one.outerHTML.slice(0, 80))`
  const { context, page } = await newPerson(site, { viewport: WIDE, reducedMotion: 'reduce' })
  for (const path of ['/', '/mods', all.project]) {
    await page.goto(`${site.url}${path}`)
    assert.deepEqual(await page.evaluate(MOVING), [], path)
  }
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await page.goto(`${site.url}/mods`)
  assert.notDeepEqual(await page.evaluate(MOVING), [])
  await context.close()
})

test('the header has two rows at most in a window of 320 pixels', async () => {
  const ROWS = `new Set([...document.querySelectorAll('header > *')].map((one) => {
    const { top, height } = one.getBoundingClientRect()
    return Math.round((top + height / 2) / 12)
  })).size`
  const person = await site.t.make.account({ username: 'w'.repeat(39) })
  const { context, page } = await newPerson(site, { viewport: { width: 320, height: 640 } })
  for (const name of ['Depot', 'Lantern Harbour', 'W'.repeat(64)]) {
    await updateSettings(site.t.deps, COMMAND, { name })
    for (const language of ['en', 'de', 'ar-XB'])
      for (const token of [undefined, person.token]) {
        await context.clearCookies()
        await context.addCookies([{ name: 'depot-language', value: language, url: site.url }])
        if (token !== undefined) await signIn(site, context, token)
        await page.goto(`${site.url}/mods`)
        await shoot(page, 'head-tiny')
        const what = `${name} ${language} ${token === undefined ? 'visitor' : 'user'}`
        assert.equal(await page.evaluate(ROWS), 2, what)
        const height = Number(await page.evaluate('document.querySelector("header").offsetHeight'))
        assert.ok(height <= 140, `${what}: ${height}`)
        assert.deepEqual(await tooWide(page), [], what)
      }
  }
  await context.close()
  await updateSettings(site.t.deps, COMMAND, { name: null })
})
