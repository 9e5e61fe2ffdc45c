// A pack in a real browser: projects are added one after the other, and the browser remembers them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkAccess, checkFits, newPerson, openSite, type Site, shoot } from '#test/support/browser/chromium.ts'
import { NARROW, WIDE } from '#test/support/browser/looks.ts'
import { makeCatalogue, type TestCatalogue } from '#test/support/factories/resolve-catalogue.ts'

let site: Site
let made: TestCatalogue
before(async () => {
  site = await openSite()
  made = await makeCatalogue(
    site.t,
    {
      lantern: { '2': ['required engine', 'optional map'], '1': [] },
      rival: { '1': ['incompatible lantern'] },
      torch: { '1': ['required engine'] },
      engine: { '1': [] },
      map: { '1': [] },
    },
    (slug) => ({ slug, name: `${slug.charAt(0).toUpperCase()}${slug.slice(1)}` }),
  )
})
after(() => site?.close())

test('projects are added from their pages, and the browser remembers the pack', async () => {
  const { context, page } = await newPerson(site, { viewport: WIDE })
  for (const slug of ['lantern', 'torch', 'rival']) {
    await page.goto(`${site.url}/mod/${slug}`)
    await page.click('a[href*="/pack?add="]')
    await page.waitForURL(/projects=/)
  }
  const projectsOf = (): string[] => new URL(page.url()).searchParams.get('projects')?.split(',') ?? []
  assert.deepEqual(
    projectsOf(),
    ['lantern', 'torch', 'rival'].map((slug) => made.projects[slug]?.id),
  )
  await page.selectOption('select[name=loader]', 'fabric')
  await page.selectOption('select[name=game_version]', '1.20.1')
  await page.fill('input[name=loader_version]', '0.15.11')
  await page.fill('input[name=name]', 'Evening')
  await page.click('form[method=get][action$="/pack"] button')
  await page.waitForURL(/loader_version=0\.15\.11/)
  await page.getByText('is incompatible with').waitFor()
  await page.goto(`${site.url}/pack`)
  await page.waitForURL(/name=Evening/)
  await page.click('form[action$="/pack/files"] button')
  await page.waitForURL(/lock=/)
  assert.ok(await page.getByText('The pack is stored, but incomplete').isVisible())
  const address = page.url()
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    for (const [name, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
      await page.setViewportSize(viewport)
      await page.goto(address)
      await shoot(page, `pack-${name}-${theme}`)
      await checkFits(page)
    }
  }
  await checkAccess(page)
  await page.goto(`${site.url}/pack?projects=`)
  await page.goto(`${site.url}/pack`)
  assert.ok(await page.getByText('The pack is empty').isVisible())
  await shoot(page, 'pack-empty')
  await context.close()
})
