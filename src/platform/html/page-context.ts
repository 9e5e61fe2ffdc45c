// What every page knows of the instance and of the one who looks at it.
import { type AssetName, type Assets, assetPath } from './assets.ts'
import { html, type Markup } from './html.ts'
import type { IconName } from './icons.ts'
import type { Language } from './languages.ts'

/** The instance, the same for all pages while it runs. Paths stand below the public address, without its own path. */
export type Site = {
  /** What people call the instance. */
  name: string
  /** Its public address, without a slash at its end. */
  url: string
  assets: Assets
  /** Degrees of the colour circle that links and buttons take; absent leaves the colours as they come. */
  accentHue?: number
  /** The picture that stands for the instance; absent for the drawn one. `url` is its smallest copy, 96 pixels wide. */
  mark?: { url: string; rawUrl: string; sizes: readonly { width: number; url: string }[] }
  /** A line above every page. */
  announcement?: string
  paths: { home: string; signIn: string; signOut: string; account: string; preferences: string }
  /** The form in the header; absent while there is nothing to search. */
  search?: { action: string; projectCount?: number }
  /** Links before the account's, such as the one for publishing. Narrow windows leave them out. */
  navigation?: readonly SiteLink[]
  /** Links in the footer. */
  footer?: readonly SiteLink[]
}

export type SiteLink = { path: string; label: (language: Language) => string; icon?: IconName }

/** `system` follows the device. */
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export type PageContext = {
  site: Site
  language: Language
  theme: Theme
  /** Path and query of the request, for coming back. */
  address: string
  /** Who is signed in. */
  account: { username: string; avatar_url: string | null } | undefined
  /** Milliseconds since 1970. */
  now: number
  /** The token that every form of somebody who is signed in carries. Asking for it sets a cookie. */
  csrfToken(): string
}

/** The path of the public address: empty, or `/depot` where the instance is at https://example.org/depot. */
export function basePath({ url }: Pick<Site, 'url'>): string {
  return new URL(url).pathname.replace(/\/$/, '')
}

/** A link's address for a path of ours. */
export function pathTo(page: Pick<PageContext, 'site'>, path: string): string {
  return `${basePath(page.site)}${path}`
}

export function assetHref(page: Pick<PageContext, 'site'>, name: AssetName): string {
  return assetPath(page.site.assets, basePath(page.site), name)
}

/** A picture beside text that says the same. Where there is no such text, put some for screen readers (`.vh`). */
export function icon(page: Pick<PageContext, 'site'>, name: IconName): Markup {
  return html`<svg class="i" aria-hidden="true"><use href="${`${assetHref(page, 'icons.svg')}#${name}`}"/></svg>`
}
