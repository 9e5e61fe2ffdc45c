// Pages with the largest, widest or emptiest allowed content, in the narrowest windows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkFits, newPerson, openSite, type Site, shoot, signIn } from '#test/support/browser/chromium.ts'
import { makeDependents, makeExtremes, PROJECT_PAGES, WIDE_NAME } from '#test/support/factories/extremes.ts'
import type { Person } from '#test/support/factories/factories.ts'

let site: Site
let paths: string[]
let owner: Person
before(async () => {
  site = await openSite()
  const { t } = site
  owner = await t.make.account()
  const { bare, large } = await makeExtremes(t, owner)
  await makeDependents(t, large)
  const { id } = (
    await t.as(owner).post('/v3/collection', { name: WIDE_NAME, description: WIDE_NAME, projects: [large.id, bare.id] })
  ).json()
  await t.searchable()
  const filters = [...t.deps.taxonomy.loaders.keys()].slice(0, 50).map((name) => `l=${name}`)
  paths = [
    ...PROJECT_PAGES.map((below) => `/mod/large${below}`),
    // Without a version it is of no type yet.
    ...PROJECT_PAGES.map((below) => `/project/bare${below}`),
    '/mod/large/version/v4999',
    '/mod/large/versions?page=100',
    '/mod/large/used-by?page=2',
    '/mod/large/changelog?from=v10&to=v4999',
    '/',
    `/search?${filters.join('&')}&c=${WIDE_NAME}`,
    `/search?q=${WIDE_NAME}`,
    '/mods?view=grid',
    `/user/${owner.username}`,
    `/collection/${id}`,
  ]
})
after(() => site?.close())

test('nothing that is large, wide or empty makes a page wider than 320 or 390 pixels', async () => {
  const { context, page, problems } = await newPerson(site)
  for (const path of paths) {
    const answer = await page.goto(`${site.url}${path}`)
    assert.equal(answer?.status(), 200, path)
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 844 })
      await shoot(page, `extreme-${width}${path.replace(/\W+/g, '-').slice(0, 40)}`)
      await checkFits(page)
    }
  }
  assert.deepEqual(problems, [])
  await context.close()
})

/** The texts of the path above the settings that are cut, or not within the window. */
const CUT_CRUMBS = `[...document.querySelectorAll('.crumbs, .crumbs *')].filter((part) => {
  const { left, right } = part.getBoundingClientRect()
  const isInline = getComputedStyle(part).display === 'inline'
  return left < 0 || right > innerWidth || (!isInline && (part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight))
}).map((part) => part.outerHTML)`

test('a long name without spaces wraps in the path above settings', async () => {
  const { context, page, problems } = await newPerson(site, { viewport: { width: 320, height: 844 } })
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}/mod/large/settings/members`)
  assert.ok((await page.locator('.crumbs').textContent())?.includes(WIDE_NAME))
  assert.deepEqual(await page.evaluate(CUT_CRUMBS), [])
  await checkFits(page)
  assert.deepEqual(problems, [])
  await context.close()
})
