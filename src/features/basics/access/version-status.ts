// Version statuses: what each means for who sees a version. Which of them stand in lists, in `project.versions` and in
// update checks is said once, by the SQL function `is_listed`, which indexes and triggers use as well.

export const VERSION_STATUSES = ['listed', 'archived', 'draft', 'unlisted', 'scheduled', 'unknown'] as const
export type VersionStatus = (typeof VERSION_STATUSES)[number]

/** What a publisher may set without a date. */
export const SETTABLE_VERSION_STATUSES = ['listed', 'archived', 'draft', 'unlisted'] as const
export type SettableVersionStatus = (typeof SETTABLE_VERSION_STATUSES)[number]

/** These follow their project's visibility; the others are for members and moderators. */
export const PUBLIC_VERSION_STATUSES = ['listed', 'archived', 'unlisted'] as const satisfies VersionStatus[]

const isIn = (list: readonly VersionStatus[], status: string): boolean => (list as readonly string[]).includes(status)

export const isPublicVersionStatus = (status: string): status is (typeof PUBLIC_VERSION_STATUSES)[number] =>
  isIn(PUBLIC_VERSION_STATUSES, status)
