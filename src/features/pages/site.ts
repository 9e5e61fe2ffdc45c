// The instance as its pages show it.
import type { Config } from '#config/config.ts'
import { getShownSettings, type Settings, type SettingsReader } from '#features/settings/settings-cache.ts'
import { loadAssets } from '#html/assets.ts'
import type { Site, SiteLink } from '#html/page-context.ts'
import { isBlank } from '#lib/text-rules.ts'
import { PATHS } from './paths.ts'

/** Reads the assets: once when the server starts. */
export function createSite(config: Config): Site {
  return {
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
export async function currentSite(reader: SettingsReader, site: Site): Promise<Site> {
  const settings = await getShownSettings(reader)
  const { name, accent_hue: hue, announcement, mark } = settings
  const links = reader.config.site.isServed ? operatorLinks(settings) : []
  return {
    ...site,
    name,
    ...(hue === null ? {} : { accentHue: hue }),
    ...(announcement === null ? {} : { announcement }),
    ...(mark === null ? {} : { mark: { url: mark.url, rawUrl: mark.raw_url, sizes: mark.sizes } }),
    footer: [...links, ...(site.footer ?? [])],
  }
}
