// The map of all pages of the web site. A test compares it with the routes and with the operations of the API, and
// `npm run gen` writes it into docs/contributors/pages.md.
import { ACCOUNT_PAGES } from './account.ts'
import { MODERATION_PAGES } from './moderate.ts'
import { OPERATOR_PAGES } from './operate.ts'
import type { MappedPage } from './page.ts'
import { PUBLISH_PAGES } from './publish.ts'
import { SITE_PAGES } from './site.ts'

export const PAGE_MAP: Readonly<Record<string, readonly MappedPage[]>> = {
  'Public site': SITE_PAGES,
  Account: ACCOUNT_PAGES,
  Publishers: PUBLISH_PAGES,
  Moderators: MODERATION_PAGES,
  Operators: OPERATOR_PAGES,
}

/** Operations of GET routes that answer no page: feeds, files for programs, previous addresses, downloads. */
export const NOT_PAGES: ReadonlySet<string> = new Set([
  'siteAbsent',
  'siteCard',
  'siteFeed',
  'siteMap',
  'siteMapPart',
  'siteManifest',
  'siteRobots',
  'siteSearchDescription',
  'siteEmbed',
  'siteMoved',
  'siteMovedList',
  'siteChangePassword',
  'siteFavicon',
  'siteSpeculationRules',
  'siteSuggestions',
  'siteStatisticsCsv',
  'publishMovedReview',
  'ownRevenueHistoryCsv',
  'publishAnalyticsCsv',
  'manageAnalyticsCsv',
  'operateFigures',
  'operateTagLists',
  'operateAuditExport',
])
