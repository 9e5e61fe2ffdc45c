// Views and downloads of demo projects in recent months: more at weekends and after a release, and most in large countries.

import type { Random } from '#demo/catalogue/random.ts'
import type { DemoVersion } from '#demo/catalogue/versions.ts'
import { DAY_MS } from '#lib/time.ts'
import type { DownloadEvent, ViewEvent } from '#ports/analytics-store/events.ts'

export type EventsPlan = {
  projectId: string
  projectType: string
  slug: string
  published: Date
  downloads: number
  /** Versions with their IDs, oldest first. */
  versions: readonly { id: string; version: DemoVersion }[]
  until: Date
  /** Whether the project gets enough events for a plot. */
  isWatched: boolean
}

export type DemoEvents = { views: ViewEvent[]; downloads: DownloadEvent[] }

const DAYS = 120
const WEEKEND = 1.5
/** Number of days for which a release increases the interest. */
const RELEASE = { boost: 2.4, daysToFade: 4 }
const VIEWS_PER_DOWNLOAD = 1.4
/** Maximum share of a version's downloads that is from these months. */
const RECENT_SHARE = 0.8

const COUNTRIES: readonly (readonly [string, number])[] = [
  ['US', 26],
  ['DE', 11],
  ['BR', 9],
  ['GB', 8],
  ['FR', 7],
  ['PL', 6],
  ['CN', 6],
  ['RU', 5],
  ['CA', 5],
  ['JP', 4],
  ['ES', 3],
  ['IT', 3],
  ['NL', 3],
  ['AU', 3],
  ['SE', 2],
  ['KR', 2],
  ['XX', 2],
  ['MX', 2],
  ['TR', 2],
  ['AT', 1],
]
const PROGRAMS: readonly (readonly [string, number])[] = [
  ['', 40],
  ['modrinth-app', 30],
  ['prism-launcher', 20],
  ['atlauncher', 5],
  ['packwiz', 5],
]
const REFERRERS: readonly (readonly [string, number])[] = [
  ['', 60],
  ['search.example.org', 20],
  ['video.example.org', 12],
  ['forum.example.org', 8],
]
const REASONS: readonly (readonly [string, number])[] = [
  ['standalone', 55],
  ['dependency', 20],
  ['modpack', 15],
  ['update', 10],
]
/** Weight of each hour of the day (UTC). */
const HOURS = [3, 2, 2, 1, 1, 1, 2, 3, 3, 4, 4, 5, 6, 6, 7, 8, 9, 10, 11, 11, 10, 8, 6, 4].map(
  (weight, hour) => [hour, weight] as const,
)

const pickBy = <Item>(random: Random, choices: readonly (readonly [Item, number])[]): Item =>
  random.weighted(choices, ([, weight]) => weight)[0]

/** Returns unordered events; a version has at most as many downloads as its counter. Equal random streams give equal events. */
export function demoEvents(random: Random, plan: EventsPlan): DemoEvents {
  const { until, published, projectId } = plan
  const events: DemoEvents = { views: [], downloads: [] }
  const perDay = plan.isWatched ? 12 + 22 * random.next() : Math.log10(1 + plan.downloads) / 20
  const left = plan.versions.map(({ version }) => Math.floor(version.downloads * RECENT_SHARE))
  if (left.every((count) => count === 0)) return events
  const path = `/${plan.projectType}/${plan.slug}`
  for (let day = 0; day < DAYS; day += 1) {
    const start = Math.floor(until.getTime() / DAY_MS) * DAY_MS - (DAYS - 1 - day) * DAY_MS
    const mean = perDay * interest(plan, start, day) * (0.8 + 0.4 * random.next())
    for (let n = Math.floor(mean * VIEWS_PER_DOWNLOAD + random.next()); n > 0; n -= 1) {
      const at = instantOf(random, start)
      if (at < published.getTime() || at >= until.getTime()) continue
      events.views.push({
        ...origin(random, at),
        project_id: projectId,
        domain: pickBy(random, REFERRERS),
        site_path: path,
        monetized: random.chance(0.9),
      })
    }
    for (let n = Math.floor(mean + random.next()); n > 0; n -= 1) {
      const at = instantOf(random, start)
      const place = chooseVersion(random, plan, at, left)
      if (place === undefined || at >= until.getTime()) continue
      left[place] = (left[place] ?? 0) - 1
      events.downloads.push(downloadOf(random, plan, { at, place, path }))
    }
  }
  return events
}

/** Returns the factor by which a day differs from the average. */
function interest({ versions }: EventsPlan, start: number, day: number): number {
  const weekday = new Date(start).getUTCDay()
  let factor = (weekday === 0 || weekday === 6 ? WEEKEND : 1) * (0.7 + (0.6 * day) / DAYS)
  for (const { version } of versions) {
    const age = (start + DAY_MS - version.published.getTime()) / DAY_MS
    if (age >= 0 && age < 30) factor += RELEASE.boost * Math.exp(-age / RELEASE.daysToFade)
  }
  return factor
}

function instantOf(random: Random, start: number): number {
  return start + pickBy(random, HOURS) * 3_600_000 + random.integer(0, 3_599_999)
}

function origin(random: Random, at: number) {
  return { recorded_at: at, country: pickBy(random, COUNTRIES), user_agent: pickBy(random, PROGRAMS) }
}

/** Returns the newest version at that time, or sometimes an older one, that has downloads left. */
function chooseVersion(
  random: Random,
  { versions }: EventsPlan,
  at: number,
  left: readonly number[],
): number | undefined {
  const out = versions.flatMap(({ version }, n) => (version.published.getTime() <= at && (left[n] ?? 0) > 0 ? [n] : []))
  if (out.length === 0) return undefined
  return random.chance(0.75) ? out.at(-1) : random.pick(out)
}

function downloadOf(
  random: Random,
  { projectId, versions }: EventsPlan,
  { at, place, path }: { at: number; place: number; path: string },
): DownloadEvent {
  const { id = '', version } = versions[place] ?? {}
  const from = origin(random, at)
  const games = version?.fields['game_versions']
  const isProgram = from.user_agent !== ''
  return {
    ...from,
    project_id: projectId,
    version_id: id,
    domain: isProgram ? '' : pickBy(random, REFERRERS),
    site_path: isProgram ? '' : path,
    monetized: random.chance(0.3),
    reason: isProgram ? pickBy(random, REASONS) : '',
    loader: isProgram && version !== undefined && version.loaders.length > 0 ? random.pick(version.loaders) : '',
    game_version:
      isProgram && Array.isArray(games) && games.length > 0
        ? String(random.pick<string | number | boolean>(games))
        : '',
  }
}
