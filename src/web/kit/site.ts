// The instance as its pages show it: name, colours, links and the number of projects.
import { LRUCache } from 'lru-cache'
import { getShownSettings, type Settings, type SettingsReader } from '#features/basics/settings/settings-cache.ts'
import { getStatistics } from '#features/basics/statistics/queries.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { loadAssets } from '#platform/html/assets.ts'
import type { Site, SiteLink } from '#platform/html/page-context.ts'
import type { Deps } from '#ports/deps.ts'
import { PATHS } from './paths.ts'

/** The part of the instance that does not change while the server runs. */
export type SiteBase = Site & { countProjects: () => Promise<number | undefined> }

/** Loads the assets, once when the server starts. */
export function createSite(deps: Pick<Deps, 'config' | 'dbRead' | 'now'>): SiteBase {
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
          search: { action: PATHS.search },
          footer: [{ path: '/docs/swagger-ui', label: ({ t }) => t('layout.api') }],
        }
      : {}),
  }
}

/** Counts projects for the search placeholder. Cached for a minute; undefined if the query fails and no count is cached. */
function projectCounter({ dbRead, now }: Pick<Deps, 'dbRead' | 'now'>): SiteBase['countProjects'] {
  const cache = new LRUCache<'projects', number>({
    max: 1,
    ttl: MINUTE_MS,
    ttlResolution: 0,
    perf: { now },
    allowStaleOnFetchRejection: true,
    fetchMethod: async () => (await getStatistics(dbRead)).projects,
  })
  return () => cache.fetch('projects').catch(() => undefined)
}

/** Settings with a text that has a page: `/about` and `/rules`. */
export const OPERATOR_TEXTS = ['about', 'rules'] as const
export type OperatorText = (typeof OPERATOR_TEXTS)[number]

/** Returns footer links to the operator texts that are not blank. */
export function operatorLinks(settings: Pick<Settings, OperatorText>): SiteLink[] {
  return OPERATOR_TEXTS.filter((name) => !isBlank(settings[name] ?? '')).map((name) => ({
    path: `/${name}`,
    label: ({ t }) => t(`layout.${name}`),
  }))
}

/** Returns the instance with its current settings, which are cached until they change. */
export async function currentSite(reader: SettingsReader, { countProjects, ...site }: SiteBase): Promise<Site> {
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
