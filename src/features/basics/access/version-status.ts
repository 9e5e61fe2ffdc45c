// Version statuses and the visibility of each. The SQL function `is_listed` defines which statuses appear in lists, in
// `project.versions` and in update checks.
import { type RawBuilder, sql } from 'kysely'

export const VERSION_STATUSES = ['listed', 'archived', 'draft', 'unlisted', 'scheduled', 'unknown'] as const
export type VersionStatus = (typeof VERSION_STATUSES)[number]

/** Statuses that a publisher can set without a date. */
export const SETTABLE_VERSION_STATUSES = ['listed', 'archived', 'draft', 'unlisted'] as const
export type SettableVersionStatus = (typeof SETTABLE_VERSION_STATUSES)[number]

/** Statuses with the visibility of the project. Only members and moderators see the others. */
export const PUBLIC_VERSION_STATUSES = ['listed', 'archived', 'unlisted'] as const satisfies VersionStatus[]

export const isPublicVersionStatus = (status: string): status is (typeof PUBLIC_VERSION_STATUSES)[number] =>
  (PUBLIC_VERSION_STATUSES as readonly string[]).includes(status)

/** Returns whether versions of this status are in lists and can be chosen: the rule of the SQL function `is_listed`. */
export const isListedStatus = (status: string): boolean => status === 'listed' || status === 'archived'

/**
 * Order of version lists: first versions with an `ordering`, ascending, then the others, newest first. In projects with the
 * `version_order` `number`, those with the highest number are the newest.
 */
export const LIST_ORDER: RawBuilder<unknown> = sql`version.ordering, version.number_key desc nulls last,
  version.date_published desc, version.id`
