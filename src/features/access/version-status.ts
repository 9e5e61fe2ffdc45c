// Version statuses: what each means for who sees a version, and the one definition of a listed version. The SQL function
// `is_listed` of the migrations is its twin for triggers; a test compares the two.
import { type RawBuilder, sql } from 'kysely'

export const VERSION_STATUSES = ['listed', 'archived', 'draft', 'unlisted', 'scheduled', 'unknown'] as const
export type VersionStatus = (typeof VERSION_STATUSES)[number]

/** What a publisher may set without a date. */
export const SETTABLE_VERSION_STATUSES = ['listed', 'archived', 'draft', 'unlisted'] as const

/** These follow their project's visibility; the others are for members and moderators. */
export const PUBLIC_VERSION_STATUSES = ['listed', 'archived', 'unlisted'] as const satisfies VersionStatus[]

/** These stand in lists, in `project.versions` and in update checks. */
export const LISTED_VERSION_STATUSES = ['listed', 'archived'] as const satisfies VersionStatus[]

const isIn = (list: readonly VersionStatus[], status: string): boolean => (list as readonly string[]).includes(status)

export const isPublicVersionStatus = (status: string): boolean => isIn(PUBLIC_VERSION_STATUSES, status)

/**
 * SQL: whether the status in this column is one of a listed version. The statuses are literals, because the partial
 * indexes over listed versions are chosen by them.
 * @param column of the statement around it, as `version.status`.
 */
export function isListedStatus(column: string): RawBuilder<boolean> {
  return sql`${sql.ref(column)} in (${sql.join(LISTED_VERSION_STATUSES.map((status) => sql.lit(status)))})`
}
