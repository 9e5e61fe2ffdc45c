// The instance as its pages show it.
import { LRUCache } from 'lru-cache'
import { getShownSettings, type Settings, type SettingsReader } from '#features/basics/settings/settings-cache.ts'
import { getStatistics } from '#features/basics/statistics/queries.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { loadAssets } from '#platform/html/assets.ts'
import type { Site, SiteLink } from '#platform/html/page-context.ts'
import type { Deps } from '#ports/deps.ts'
import { PATHS } from './paths.ts'

/** The instance, and how many projects it has, as of a minute ago at most. */
export type ServedSite = Site & { countProjects: () => Promise<number | undefined> }

/** Reads the assets: once when the server starts. */
export function createSite(deps: Pick<Deps, 'config' | 'dbRead' | 'now'>): ServedSite {
  const { config } = deps
  return {
    countProjects: projectCounter(deps),
    name: config.site.name,
    url: config.http.baseUrl.replace(/\/$/, ''),
    assets: loadAssets(),
    paths: {
      home: config.site.isServed ? '/' : PATHS.profile,
      signIn: PATHS.signIn,
      signOut: PATHS.signOut,
      account: PATHS.profile,
      preferences: PATHS.preferences,
    },
    ...(config.site.isServed
      ? {
          search: { action: '/search' },
          footer: [{ path: '/docs/swagger-ui', label: ({ t }) => t('layout.api') }],
        }
      : {}),
  }
}

/** A count that a field for searching tells is not worth a question for each page, and its absence no error. */
function projectCounter({ dbRead, now }: Pick<Deps, 'dbRead' | 'now'>): ServedSite['countProjects'] {
  const kept = new LRUCache<'projects', number>({
    max: 1,
    ttl: MINUTE_MS,
    ttlResolution: 0,
    perf: { now },
    allowStaleOnFetchRejection: true,
    fetchMethod: async () => (await getStatistics(dbRead)).projects,
  })
  return () => kept.fetch('projects').catch(() => undefined)
}

/** The texts of operators that have pages of their own, at `/about` and `/rules`, where the site is served. */
export const OPERATOR_TEXTS = ['about', 'rules'] as const
export type OperatorText = (typeof OPERATOR_TEXTS)[number]

/** Links to those of the texts that say something, in the order of the footer. */
export function operatorLinks(settings: Pick<Settings, OperatorText>): SiteLink[] {
  return OPERATOR_TEXTS.filter((name) => !isBlank(settings[name] ?? '')).map((name) => ({
    path: `/${name}`,
    label: ({ t }) => t(`layout.${name}`),
  }))
}

/** The instance with the settings that are in force. Costs no query while nothing changes. */
export async function currentSite(reader: SettingsReader, { countProjects, ...site }: ServedSite): Promise<Site> {
  const settings = await getShownSettings(reader)
  const { name, accent_hue: hue, announcement, mark } = settings
  const links = reader.config.site.isServed ? operatorLinks(settings) : []
  const projectCount = site.search === undefined ? undefined : await countProjects()
  return {
    ...site,
    name,
    ...(hue === null ? {} : { accentHue: hue }),
    ...(announcement === null ? {} : { announcement }),
    ...(mark === null ? {} : { mark: { url: mark.url, rawUrl: mark.raw_url, sizes: mark.sizes } }),
    ...(site.search === undefined || !projectCount ? {} : { search: { ...site.search, projectCount } }),
    footer: [...links, ...(site.footer ?? [])],
  }
}
