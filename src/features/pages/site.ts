// The instance as its pages show it.
import type { Config } from '#config/config.ts'
import { loadAssets } from '#html/assets.ts'
import type { Site } from '#html/page-context.ts'
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
