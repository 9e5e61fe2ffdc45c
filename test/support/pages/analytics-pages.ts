// Analytics of projects with events of 70 days, of one without events, and a member without the permission.
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import type { TestApp } from '../app/test-app.ts'
import { aDownload, aView, somePlaytime } from '../factories/analytics-events.ts'
import type { Person } from '../factories/factories.ts'
import { pagesOf, type ShownPage } from './shown-page.ts'
import { LONG_NAME as LONG, type WorkPeople } from './work-pages.ts'

/** Analytics of the project with most events. */
export const ANALYTICS = '/mod/mod-0/settings/analytics'
const COUNTRIES = ['US', 'DE', 'FR', 'PL', 'BR', 'GB', 'CA', 'JP', 'NL', 'SE', 'NO']
const DOMAINS = [
  'depot.example',
  'a-forum-with-a-long-name.example.org',
  '',
  '"><b>hostile</b>.example',
  'video.example',
]

export async function makeAnalyticsPages(t: TestApp, { owner, reader }: WorkPeople): Promise<ShownPage[]> {
  const version = await makeAnalytics(t, owner, reader)
  const day = (ago: number): string => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)
  const at = pagesOf(owner)
  return [
    at('analytics-account', 'publishAnalytics', '/dashboard/analytics'),
    at('analytics-account-views', 'publishAnalytics', '/dashboard/analytics?m=views&by=domain&compare=before'),
    at('analytics-project', 'manageAnalytics', ANALYTICS),
    at('analytics-compared', 'manageAnalytics', `${ANALYTICS}?compare=before&by=country`),
    at('analytics-loader', 'manageAnalytics', `${ANALYTICS}?by=loader&from=${day(89)}`),
    at('analytics-hours', 'manageAnalytics', `${ANALYTICS}?m=views&by=site_path&from=${day(6)}&step=hour`),
    at('analytics-playtime', 'manageAnalytics', `${ANALYTICS}?m=playtime&from=${day(364)}`),
    at('analytics-version', 'manageAnalytics', `${ANALYTICS}?version=${version}`),
    at('analytics-empty', 'manageAnalytics', '/mod/mod-3/settings/analytics'),
    at('analytics-error', 'manageAnalytics', `${ANALYTICS}?from=2026-13-99&step=second`, { status: 400 }),
    pagesOf(reader)('analytics-reader', 'manageAnalytics', ANALYTICS),
  ]
}

/** Creates four projects with versions and events; returns the newest version of the first. */
export async function makeAnalytics(t: TestApp, owner: Person, reader: Person): Promise<string> {
  let version = ''
  const { make } = t
  const now = t.deps.now()
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
    if (index < 3) addEvents(t, { id: project.id, versions, rate: 90 / (index + 1), now })
  }
  await t.deps.events.flush()
  return version
}

type Rhythm = { id: string; versions: string[]; rate: number; now: number }

/** Adds events of 70 days, with a rhythm of weeks and slow growth. */
function addEvents(t: TestApp, { id, versions, rate, now }: Rhythm): void {
  const { events } = t.deps
  for (let day = 0; day < 70; day += 1) {
    const count = Math.round(rate * (1 + day / 70) * (1 + 0.35 * Math.sin((day / 7) * 2 * Math.PI)))
    for (let n = 0; n < count; n += 1) {
      const recorded_at = Math.min(now - HOUR_MS, now - (69 - day) * DAY_MS + ((n * 97) % 20) * HOUR_MS - 20 * HOUR_MS)
      const at = { project_id: id, recorded_at, country: COUNTRIES[n % 5 === 0 ? 0 : n % COUNTRIES.length] ?? '' }
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
