// The names and limits of all caches. docs/contributors/caching.md lists them.
import { HOUR_MS, MINUTE_MS } from '#lib/time.ts'

const MIB = 1024 * 1024

/** Caches of entities. An announced change removes the entity. */
export const ENTITY_CACHES = {
  balance: 'Available balance of an account',
  follows: 'IDs of the projects that an account follows',
  organization: 'Organization as JSON, without its members',
  project: 'Public view of a project as JSON',
  'project-advisories': 'Published advisories that the pages of a project show',
  settings: 'Settings of the instance',
  team: 'Members of a team',
  token: 'Owner, scopes and expiry of a token',
  user: 'Public profile of a user as JSON',
  version: 'View of a version as JSON',
  'version-finds': 'Results of version lists and hash lookups of a project',
  viewer: 'Role and suspension of an account',
} as const
export type EntityCacheName = keyof typeof ENTITY_CACHES

/** Caches of values that depend on several entities. A change to any of them removes the value. */
export const DERIVED_CACHES = {
  'followed-releases': 'Newest releases of the projects that an account follows',
  page: 'HTML page without its personal parts, for 1 minute or 1 second',
} as const
export type DerivedCacheName = keyof typeof DERIVED_CACHES

/** Limits of a cache of computed values. Without `maxAgeMs`, the key or the reader determines whether a value is current. */
export type RememberedLimits = {
  readonly contains: string
  readonly maxAgeMs?: number
  readonly maxBytes: number
  /** Whether callers get an expired value while a new one is loaded. */
  readonly isStaleAllowed?: boolean
}

/** Caches of computed values, which no announcement removes. */
export const REMEMBERED = {
  'archive-contents': { contains: 'Entries and manifests of the files of a version', maxBytes: 32 * MIB },
  'code-host-answer': {
    contains: 'Account at the code host that a token belongs to',
    maxAgeMs: 5 * MINUTE_MS,
    maxBytes: 4 * MIB,
  },
  'dependent-count': { contains: 'Number of projects that use a project', maxAgeMs: MINUTE_MS, maxBytes: 4 * MIB },
  'dependent-types': {
    contains: 'Number of projects of each type that use a project',
    maxAgeMs: MINUTE_MS,
    maxBytes: 4 * MIB,
  },
  'download-trend': { contains: 'Weekly downloads of a project', maxAgeMs: HOUR_MS, maxBytes: 8 * MIB },
  'facet-use': {
    contains: 'Filters of a list in the order of their use',
    maxAgeMs: 10 * MINUTE_MS,
    maxBytes: MIB,
    isStaleAllowed: true,
  },
  'file-digests': { contains: 'MD5 and SHA-256 of a file', maxBytes: 4 * MIB },
  'list-counts': { contains: 'Counts next to the filters of a list', maxAgeMs: 1000, maxBytes: 4 * MIB },
  'loader-metadata': {
    contains: 'Versions of a loader that its own service lists',
    maxAgeMs: 10 * MINUTE_MS,
    maxBytes: MIB,
    isStaleAllowed: true,
  },
  'loader-versions': { contains: 'Versions of a loader that packs name', maxAgeMs: MINUTE_MS, maxBytes: MIB },
  'project-card': { contains: 'Preview image of a project, by its content', maxBytes: 16 * MIB },
  'project-count': { contains: 'Number of projects in the catalogue', maxAgeMs: MINUTE_MS, maxBytes: MIB },
  'project-statistics': { contains: 'Download statistics of a project', maxAgeMs: MINUTE_MS, maxBytes: 16 * MIB },
  'related-projects': {
    contains: 'IDs of the projects that are related to a project',
    maxAgeMs: HOUR_MS,
    maxBytes: 4 * MIB,
    isStaleAllowed: true,
  },
  'rendered-text': { contains: 'Markdown text of a user as HTML, by its content', maxBytes: 32 * MIB },
  'search-hit-v2': { contains: 'Search hit in the format of the v2 API, by its content', maxBytes: 16 * MIB },
  favicon: { contains: 'Icon of the instance for `/favicon.ico`', maxBytes: MIB },
  sitemap: { contains: 'Parts of the site map', maxAgeMs: 10 * MINUTE_MS, maxBytes: 8 * MIB, isStaleAllowed: true },
  'tag-uses': {
    contains: 'Number of projects that use each tag, by the revisions of the lists',
    maxAgeMs: MINUTE_MS,
    maxBytes: MIB,
    isStaleAllowed: true,
  },
  suggestions: { contains: 'Suggestions for a text in the search field', maxAgeMs: 10_000, maxBytes: 4 * MIB },
  'account-trends': {
    contains: 'Downloads and views of several projects by day',
    maxAgeMs: MINUTE_MS,
    maxBytes: 8 * MIB,
  },
  'trending-projects': {
    contains: 'IDs of trending projects',
    maxAgeMs: HOUR_MS,
    maxBytes: MIB,
    isStaleAllowed: true,
  },
} as const satisfies Record<string, RememberedLimits>
export type RememberedName = keyof typeof REMEMBERED
