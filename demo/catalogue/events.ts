// Views and downloads of demo projects in recent months: more at weekends and after a release, and most in large countries.

import type { DemoProject } from '#demo/catalogue/catalogue.ts'
import type { Random } from '#demo/catalogue/random.ts'
import { DAY_MS } from '#lib/time.ts'
import type { DownloadEvent, ViewEvent } from '#ports/analytics-store/events.ts'

export type EventsPlan = { project: DemoProject; projectId: string; versionIds: readonly string[]; until: Date }

export type DemoEvents = { views: ViewEvent[]; downloads: DownloadEvent[] }

const DAYS = 120
const WEEKEND = 1.5
/** Number of days for which a release increases the interest. */
const RELEASE = { boost: 2.4, daysToFade: 4 }
const VIEWS_PER_DOWNLOAD = 1.4
/** Number of downloads of a project without public statistics, per power of ten of its counter. */
const HIDDEN_DOWNLOADS = 6

const COUNTRIES = { US: 26, DE: 11, BR: 9, GB: 8, FR: 7, PL: 6, CN: 6, RU: 5, CA: 5, JP: 4, AU: 3, XX: 2 }
const PROGRAMS = { '': 40, 'modrinth-app': 30, 'prism-launcher': 20, atlauncher: 5, packwiz: 5 }
const REFERRERS = { '': 60, 'search.example.org': 20, 'video.example.org': 12, 'forum.example.org': 8 }
const REASONS = { standalone: 55, dependency: 20, modpack: 15, update: 10 }
/** Weight of each hour of the day (UTC). */
const HOURS = Object.fromEntries([3, 2, 2, 1, 1, 1, 2, 3, 3, 4, 4, 5, 6, 6, 7, 8, 9, 10, 11, 11, 10, 8, 6, 4].entries())

/**
 * Returns unordered events. A project gets the share of its downloads that its last months have in its age, and a version
 * at most as many as its counter. Equal random streams give equal events.
 */
export function demoEvents(random: Random, plan: EventsPlan): DemoEvents {
  const { until, projectId } = plan
  const { published, downloads, versions, projectType, slug, hasPublicStatistics } = plan.project
  const events: DemoEvents = { views: [], downloads: [] }
  const left = versions.map((version) => version.downloads)
  if (downloads === 0) return events
  const path = `/${projectType}/${slug}`
  const ageDays = Math.max(1, (until.getTime() - published.getTime()) / DAY_MS)
  const total = hasPublicStatistics
    ? downloads * Math.min(1, DAYS / ageDays)
    : HIDDEN_DOWNLOADS * Math.log10(1 + downloads)
  const days = Array.from({ length: DAYS }, (_, day) => {
    const start = Math.floor(until.getTime() / DAY_MS) * DAY_MS - (DAYS - 1 - day) * DAY_MS
    const isOut = start + DAY_MS > published.getTime()
    return { start, weight: isOut ? interest(plan.project, start, day) * (0.8 + 0.4 * random.next()) : 0 }
  })
  const weights = days.reduce((sum, { weight }) => sum + weight, 0)
  for (const { start, weight } of days) {
    const mean = (total * weight) / weights
    for (let n = Math.floor(mean * VIEWS_PER_DOWNLOAD + random.next()); n > 0; n -= 1) {
      const at = instantOf(random, start)
      if (at < published.getTime() || at >= until.getTime()) continue
      events.views.push({
        ...origin(random, at),
        project_id: projectId,
        domain: random.weighted(REFERRERS),
        site_path: path,
        monetized: random.chance(0.9),
      })
    }
    for (let n = Math.floor(mean + random.next()); n > 0; n -= 1) {
      const at = instantOf(random, start)
      const place = chooseVersion(random, plan.project, at, left)
      if (place === undefined || at >= until.getTime()) continue
      left[place] = (left[place] ?? 0) - 1
      events.downloads.push(downloadOf(random, plan, { at, place, path }))
    }
  }
  return events
}

/** Returns the factor by which a day differs from the average. */
function interest({ versions }: DemoProject, start: number, day: number): number {
  const weekday = new Date(start).getUTCDay()
  let factor = (weekday === 0 || weekday === 6 ? WEEKEND : 1) * (0.7 + (0.6 * day) / DAYS)
  for (const { published } of versions) {
    const age = (start + DAY_MS - published.getTime()) / DAY_MS
    if (age >= 0 && age < 30) factor += RELEASE.boost * Math.exp(-age / RELEASE.daysToFade)
  }
  return factor
}

function instantOf(random: Random, start: number): number {
  return start + Number(random.weighted(HOURS)) * 3_600_000 + random.integer(0, 3_599_999)
}

function origin(random: Random, at: number) {
  return { recorded_at: at, country: random.weighted(COUNTRIES), user_agent: random.weighted(PROGRAMS) }
}

/** Returns the newest version at that time, or sometimes an older one, that has downloads left. */
function chooseVersion(random: Random, { versions }: DemoProject, at: number, left: readonly number[]) {
  const out = versions.flatMap(({ published }, n) => (published.getTime() <= at && (left[n] ?? 0) > 0 ? [n] : []))
  return random.chance(0.75) || out.length === 0 ? out.at(-1) : random.pick(out)
}

function downloadOf(
  random: Random,
  { projectId, project, versionIds }: EventsPlan,
  { at, place, path }: { at: number; place: number; path: string },
): DownloadEvent {
  const version = project.versions[place]
  const from = origin(random, at)
  const download = {
    ...from,
    project_id: projectId,
    version_id: versionIds[place] ?? '',
    monetized: random.chance(0.3),
  }
  const atSite = { domain: random.weighted(REFERRERS), site_path: path, reason: '', loader: '', game_version: '' }
  const games = version?.fields['game_versions']
  return from.user_agent === ''
    ? { ...download, ...atSite }
    : {
        ...download,
        domain: '',
        site_path: '',
        reason: random.weighted(REASONS),
        loader: version?.loaders[0] ?? '',
        game_version: Array.isArray(games) ? String(games[0] ?? '') : '',
      }
}
