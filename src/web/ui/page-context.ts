// The data about the instance and the visitor that every page uses.
import type { Role } from '#features/basics/access/viewer.ts'
import { type AssetName, type Assets, assetPath } from './assets.ts'
import { html, type Markup, type Part } from './html.ts'
import { type IconName, WORK_ICON_NAMES } from './icons.ts'
import type { Language } from './languages.ts'

/** The instance. Paths are relative to the public URL, without its path. */
export type Site = {
  /** Name of the instance. */
  name: string
  /** Public URL without a trailing slash. */
  url: string
  assets: Assets
  /** Hue of links and buttons in degrees; absent for the default colours. */
  accentHue?: number
  /** Logo of the instance; absent for the default logo. `url` is its smallest copy, 96 pixels wide. */
  mark?: { url: string; rawUrl: string; sizes: readonly { width: number; url: string }[] }
  /** Announcement at the top of the page; absent if the visitor has hidden it. */
  announcement?: Announcement
  /** Text at the top of every page in read-only mode; absent otherwise. */
  readOnly?: (language: Language) => string
  /** Whether the instance has a mail server. Otherwise emails are files for its operators. */
  sendsMail: boolean
  /** Text at the top of every page of a quiet copy; absent otherwise. */
  quiet?: (language: Language) => string
  paths: {
    home: string
    signIn: string
    /** Absent if nobody can sign up. */
    signUp?: string
    signOut: string
    account: string
    preferences: string
    /** The page that asks for the consent to the Terms. */
    terms: string
    /** Pages for publishers, moderators and operators; absent if the site is off. */
    work?: Record<
      'dashboard' | 'publish' | 'notifications' | 'follows' | 'collections' | 'packs' | 'moderation' | 'operator',
      string
    >
  }
  /** Search form in the header; absent if the site is off. */
  search?: { action: string; suggestions: string; projectCount?: number }
  /** Links before the account menu. Narrow windows hide them. */
  navigation?: readonly SiteLink[]
  /** Links in the footer. */
  footer?: readonly SiteLink[]
}

/** `key` identifies the text, so that a visitor who hides it sees the next one. */
export type Announcement = { text: Markup; severity: 'info' | 'warning' | 'critical'; link: string | null; key: string }

/** `path` is a path of the instance, or the URL of another site. */
export type SiteLink = { path: string; label: (language: Language) => string; icon?: IconName }

/** Colour themes. `system` uses the setting of the device. */
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export type PageContext = {
  site: Site
  language: Language
  theme: Theme
  /** Path and query of the request, to return to this page. */
  address: string
  /** Signed-in account. */
  account: { username: string; avatar_url: string | null; role: Role } | undefined
  /** Number of unread notifications of the account, at most 100. Default: 0 */
  unread?: number
  /** Whether the account must still agree to the newest Terms. Default: false */
  owesConsent?: boolean
  /** Milliseconds since 1970. */
  now: number
  /** Returns the CSRF token for forms of a signed-in user, and sets its cookie. */
  csrfToken(): string
  /** Inserts a part that depends on the account. A cached page renders it again for each reader. */
  personal(part: (reader: PageContext) => Part): Part
}

/** Returns the path of the public URL: empty, or `/depot` for https://example.org/depot. */
export function basePath({ url }: Pick<Site, 'url'>): string {
  // Each link on a page calls this, so that parsing the URL would take a tenth of the time of a page.
  const at = url.indexOf('/', url.indexOf('://') + 3)
  return at < 0 ? '' : url.slice(at)
}

/** Returns the URL of a path of the instance. */
export function pathTo(page: Pick<PageContext, 'site'>, path: string): string {
  return `${basePath(page.site)}${path}`
}

export function assetHref(page: Pick<PageContext, 'site'>, name: AssetName): string {
  return assetPath(page.site.assets, basePath(page.site), name)
}

const WORK_ICONS: ReadonlySet<string> = new Set(WORK_ICON_NAMES)

/** Renders a decorative icon. Add text with the same meaning, for screen readers at least (`.vh`). */
export function icon(page: Pick<PageContext, 'site'>, name: IconName): Markup {
  const sprite = WORK_ICONS.has(name) ? 'work-icons.svg' : 'icons.svg'
  return html`<svg class="i" aria-hidden="true"><use href="${`${assetHref(page, sprite)}#${name}`}"/></svg>`
}
