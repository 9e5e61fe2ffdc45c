// The analytics pages and the figures of the dashboard in a real browser: wide and narrow, light and dark, high contrast and
// right to left.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import {
  checkAccess,
  checkFits,
  newPerson,
  openSite,
  type Site,
  shoot,
  signIn,
} from '#test/support/browser/chromium.ts'
import { aDownload, aView, somePlaytime } from '#test/support/factories/analytics-events.ts'
import type { Person } from '#test/support/factories/factories.ts'
import { assertValidHtml } from '#test/support/http/html-page.ts'

const LONG = 'Lantern-of-the-unbreakable-and-unreasonably-long-name-of-a-mod'
const COUNTRIES = ['US', 'DE', 'FR', 'PL', 'BR', 'GB', 'CA', 'JP', 'NL', 'SE', 'NO']
const DOMAINS = [
  'depot.example',
  'a-forum-with-a-long-name.example.org',
  '',
  '"><b>hostile</b>.example',
  'video.example',
]

let site: Site
let owner: Person
let reader: Person
let version: string
before(async () => {
  site = await openSite()
  const { make } = site.t
  owner = await make.account({ username: 'ida-marsh' })
  reader = await make.account({ username: 'hollis' })
  const now = site.t.deps.now()
  for (const [index, name] of ['Lantern', LONG, 'Hearth & Forage', 'Driftwood'].entries()) {
    const project = await make.project({ owner, name, slug: `mod-${index}` })
    if (index === 0) await make.member({ teamId: project.teamId, accountId: reader.id, permissions: 8 })
    const versions: string[] = []
    for (const number of [0, 1, 2, 3]) {
      const made = await make.version({
        project,
        version_number: `1.${number}.0`,
        loaders: number < 2 ? ['fabric'] : ['fabric', 'quilt', 'forge'],
        game_versions: number < 2 ? ['1.20.1'] : ['1.20.1', '1.21.8'],
        date_published: new Date(now - (4 - number) * 11 * DAY_MS),
      })
      versions.push(made.id)
    }
    if (index === 0) version = versions[3] ?? ''
    if (index < 3) addEvents({ id: project.id, versions, rate: 90 / (index + 1), now })
  }
  await site.t.deps.events.flush()
})
after(() => site?.close())

/** Adds events of 70 days, with a rhythm of weeks and slow growth. */
function addEvents({ id, versions, rate, now }: { id: string; versions: string[]; rate: number; now: number }): void {
  const { events } = site.t.deps
  for (let day = 0; day < 70; day += 1) {
    const count = Math.round(rate * (1 + day / 70) * (1 + 0.35 * Math.sin((day / 7) * 2 * Math.PI)))
    for (let n = 0; n < count; n += 1) {
      const recorded_at = Math.min(now - HOUR_MS, now - (69 - day) * DAY_MS + ((n * 97) % 20) * HOUR_MS - 20 * HOUR_MS)
      const at = { project_id: id, recorded_at, country: COUNTRIES[n % COUNTRIES.length] ?? '' }
      const domain = DOMAINS[n % DOMAINS.length] ?? ''
      const version_id = versions[Math.min(3, Math.floor(day / 16) + (n % 3 === 0 ? 0 : 1))] ?? ''
      events.add('download', aDownload({ ...at, domain, version_id }))
      if (n % 3 === 0) events.add('view', aView({ ...at, domain, site_path: `/mod/lantern/version/${n % 4}` }))
      if (n % 9 === 0)
        events.add(
          'playtime',
          somePlaytime({ project_id: id, recorded_at, version_id, loader: 'fabric', seconds: 280 }),
        )
    }
  }
}

const PROJECT = '/mod/mod-0/settings/analytics'
const pages = (): Record<string, string> => ({
  account: '/dashboard/analytics',
  'account-views': '/dashboard/analytics?m=views&by=domain&compare=before',
  project: PROJECT,
  compared: `${PROJECT}?compare=before&by=country`,
  loader: `${PROJECT}?by=loader&from=${day(89)}`,
  hours: `${PROJECT}?m=views&by=site_path&from=${day(6)}&step=hour`,
  playtime: `${PROJECT}?m=playtime&from=${day(364)}`,
  version: `${PROJECT}?version=${version}`,
  empty: '/mod/mod-3/settings/analytics',
  error: `${PROJECT}?from=2026-13-99&step=second`,
  dashboard: '/dashboard',
  projects: '/dashboard/projects',
})
const day = (ago: number): string => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)

const WIDE = { width: 1280, height: 900 }
const NARROW = { width: 390, height: 844 }
const LOOKS = [
  { name: 'wide-light', language: 'en', colorScheme: 'light', viewport: WIDE },
  { name: 'wide-dark', language: 'de', colorScheme: 'dark', viewport: WIDE },
  { name: 'middle-light', language: 'en', colorScheme: 'light', viewport: { width: 768, height: 1024 } },
  { name: 'narrow-light', language: 'de', colorScheme: 'light', viewport: NARROW },
  { name: 'narrow-dark', language: 'en', colorScheme: 'dark', viewport: NARROW },
  { name: 'contrast', language: 'en', colorScheme: 'light', contrast: 'more', viewport: WIDE },
  { name: 'mirrored', language: 'ar-XB', colorScheme: 'light', viewport: WIDE },
  { name: 'tiny', language: 'de', colorScheme: 'light', viewport: { width: 320, height: 900 } },
] as const

for (const { name, language, ...look } of LOOKS) {
  test(`every page with numbers is readable by everyone and fits its window (${name})`, async () => {
    const { context, page, problems } = await newPerson(site, look)
    await signIn(site, context, owner.token)
    await context.addCookies([{ name: 'depot-language', value: language, url: site.url }])
    for (const [what, path] of Object.entries(pages())) {
      const answer = await page.goto(`${site.url}${path}`)
      assert.equal(answer?.status(), what === 'error' ? 400 : 200, path)
      if (name === 'contrast') assertValidHtml((await answer?.text()) ?? '', path)
      await shoot(page, `${what}-${name}`)
      await page.evaluate(
        "for (const part of document.querySelectorAll('main details')) part.open = part.closest('.rail') === null",
      )
      await checkAccess(page, { isStrict: true })
      await checkFits(page)
    }
    assert.deepEqual(
      problems.filter((problem) => !problem.includes('400')),
      [],
    )
    await context.close()
  })
}

test('without scripts: the tiles, the form and the search work; members without the permission see who can grant it', async () => {
  const { context, page } = await newPerson(site, { javaScriptEnabled: false, viewport: WIDE })
  await signIn(site, context, owner.token)
  await page.goto(`${site.url}${PROJECT}`)
  await page.getByRole('link', { name: 'Views', exact: true }).click()
  await page.getByRole('heading', { name: 'Views per day' }).waitFor()
  await page.getByLabel('Step').selectOption('Week')
  await page.getByLabel('Compare with the previous period').check()
  await page.getByRole('main').getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('heading', { name: 'Views per week' }).waitFor()
  await page.getByRole('navigation', { name: 'Divide by' }).getByRole('link', { name: 'Country' }).click()
  await page.waitForURL(/by=country/)
  await page.getByLabel('Search in the table').fill('germ')
  await page.getByRole('main').getByRole('button', { name: 'Search' }).click()
  await page.getByRole('rowheader', { name: /Germany/ }).waitFor()
  assert.match(page.url(), /m=views.*step=week.*by=country.*compare=before.*q=germ/)
  await context.close()
  const other = await newPerson(site, { viewport: WIDE })
  await signIn(site, other.context, reader.token)
  await other.page.goto(`${site.url}${PROJECT}`)
  await other.page.getByText('To see this, ask ida-marsh').waitFor()
  await shoot(other.page, 'not-permitted')
  await checkAccess(other.page, { isStrict: true })
  await other.context.close()
})
