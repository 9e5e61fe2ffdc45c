// Version statuses (facts/catalogue.md 0.4; decisions.md 4).

export const VERSION_STATUSES = ['listed', 'archived', 'draft', 'unlisted', 'scheduled', 'unknown'] as const
export type VersionStatus = (typeof VERSION_STATUSES)[number]

/** What a publisher may set without a date. */
export const SETTABLE_VERSION_STATUSES = ['listed', 'archived', 'draft', 'unlisted'] as const

/** These follow their project's visibility; the others are for members and moderators. */
export const PUBLIC_VERSION_STATUSES = ['listed', 'archived', 'unlisted'] as const

const isIn = (list: readonly VersionStatus[], status: string): boolean => (list as readonly string[]).includes(status)

export const isPublicVersionStatus = (status: string): boolean => isIn(PUBLIC_VERSION_STATUSES, status)

export const VERSION_TYPES = ['release', 'beta', 'alpha'] as const
export const FILE_TYPES = [
  'required-resource-pack',
  'optional-resource-pack',
  'sources-jar',
  'dev-jar',
  'javadoc-jar',
  'signature',
  'unknown',
] as const
export const DEPENDENCY_TYPES = ['required', 'optional', 'incompatible', 'embedded'] as const
