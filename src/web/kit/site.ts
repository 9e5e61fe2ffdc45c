// The instance as its pages show it: name, colours, links and the number of projects.

import { PAGE_KINDS } from '#features/basics/settings/pages/requests.ts'
import { announcementAt, getShownSettings, READ_ONLY_MESSAGE } from '#features/basics/settings/settings-cache.ts'
import type { Settings } from '#features/basics/settings/views.ts'
import { getStatistics } from '#features/basics/statistics/queries.ts'
import { MIB } from '#lib/text/sizes.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { Deps } from '#ports/deps.ts'
import { loadAssets } from '#web/ui/assets.ts'
import type { Language } from '#web/ui/languages.ts'
import type { Announcement, Site, SiteLink } from '#web/ui/page-context.ts'
import { announcementKey } from './cookies.ts'
import { PATHS } from './paths.ts'
import type { UserTexts } from './user-texts.ts'

const documentationLabel: SiteLink['label'] = ({ t }) => t('layout.documentation')
const apiLabel: SiteLink['label'] = ({ t }) => t('layout.api')

/** Returns the part of the instance that does not change while the server runs. Loads the assets. */
export function createSite({ config }: Pick<Deps, 'config'>): Site {
  return {
    name: config.site.name,
    url: config.http.baseUrl.replace(/\/$/, ''),
    assets: loadAssets(),
    sendsMail: config.mail.kind === 'smtp',
    paths: {
      home: config.site.isServed ? '/' : PATHS.profile,
      signIn: PATHS.signIn,
      signOut: PATHS.signOut,
      account: PATHS.profile,
      preferences: PATHS.preferences,
      terms: PATHS.terms,
      ...(config.site.isServed
        ? {
            work: {
              dashboard: PATHS.dashboard,
              publish: PATHS.publish,
              notifications: PATHS.notifications,
              follows: PATHS.follows,
              collections: PATHS.dashboardCollections,
              packs: PATHS.dashboardPacks,
              moderation: PATHS.moderation,
              operator: PATHS.operator,
            },
          }
        : {}),
    },
    ...(config.site.isServed ? { search: { action: PATHS.search, suggestions: PATHS.suggestions } } : {}),
    footer: [
      ...(config.site.docsUrl === undefined ? [] : [{ path: config.site.docsUrl, label: documentationLabel }]),
      ...(config.site.isServed ? [{ path: PATHS.reference, label: apiLabel }] : []),
    ],
  }
}

const PROJECT_COUNT = defineCache<RememberDefinition<number>>({
  name: 'project-count',
  contains: 'Number of projects in the catalogue',
  maxAgeMs: MINUTE_MS,
  maxBytes: MIB,
})

/** Counts projects for the search placeholder; undefined if the query fails. */
async function countProjects({ cache, dbRead }: Pick<Deps, 'cache' | 'dbRead'>): Promise<number | undefined> {
  const count = async () => (await getStatistics(dbRead)).projects
  return cache
    .remember(PROJECT_COUNT)
    .get('all', count)
    .catch(() => undefined)
}

/** Texts of the operator that have a page, such as `/about`. */
export const OPERATOR_TEXTS = ['about', ...PAGE_KINDS] as const
export type OperatorText = (typeof OPERATOR_TEXTS)[number]

/** Returns footer links to the operator texts that are not blank. */
export function operatorLinks({ about, pages }: Pick<Settings, 'about' | 'pages'>): SiteLink[] {
  const shown = [...(isBlank(about ?? '') ? [] : (['about'] as const)), ...pages.map(({ kind }) => kind)]
  return shown.map((name) => ({ path: `/${name}`, label: ({ t }) => t(`layout.${name}`) }))
}

/** Renders the current announcement. Returns undefined if there is none, or if the visitor has hidden it. */
async function announcementFor(
  settings: Settings,
  { texts, language, hidden, now }: Reading & { now: number },
): Promise<Announcement | undefined> {
  const text = announcementAt(settings, now)
  if (text === null) return undefined
  const { announcement_severity: severity, announcement_link: link } = settings
  const key = announcementKey(text)
  return severity !== 'critical' && key === hidden
    ? undefined
    : { text: await texts.render(text, { language }), severity, link, key }
}

/** `hidden`: the key of the announcement that the visitor has hidden. */
type Reading = { texts: UserTexts; language: Language; hidden: string }

/** Returns the instance with its current settings, which are cached until they change. */
export async function currentSite(deps: Deps, site: Site, reading: Reading): Promise<Site> {
  const settings = await getShownSettings(deps)
  const announcement = await announcementFor(settings, { ...reading, now: deps.now() })
  const { name, accent_hue: hue, mark, read_only_message: message } = settings
  const own = settings.footer_links.map(({ label, url }): SiteLink => ({ path: url, label: () => label }))
  const links = [...(deps.config.site.isServed ? operatorLinks(settings) : []), ...own]
  const projectCount = site.search === undefined ? undefined : await countProjects(deps)
  return {
    ...site,
    name,
    ...(hue === null ? {} : { accentHue: hue }),
    ...(announcement === undefined ? {} : { announcement }),
    ...(settings.read_only
      ? { readOnly: ({ t }) => (message === READ_ONLY_MESSAGE ? t('layout.read-only.text') : message) }
      : {}),
    ...(settings.isQuiet ? { quiet: ({ t }) => t('layout.quiet.text') } : {}),
    ...(mark === null ? {} : { mark: { url: mark.url, rawUrl: mark.raw_url, sizes: mark.sizes } }),
    ...(site.search === undefined || !projectCount ? {} : { search: { ...site.search, projectCount } }),
    paths: settings.registration === 'closed' ? site.paths : { ...site.paths, signUp: PATHS.signUp },
    footer: [...links, ...(site.footer ?? [])],
  }
}
