// Project statuses: what each means for who sees a project, and which transitions its owner may make. The SQL forms of
// these sets are made from the same lists.

export const PROJECT_STATUSES = [
  'approved',
  'archived',
  'rejected',
  'draft',
  'unlisted',
  'processing',
  'withheld',
  'scheduled',
  'private',
  'unknown',
] as const
export type ProjectStatus = (typeof PROJECT_STATUSES)[number]

/** What an owner may ask a review to end in. */
export const REQUESTABLE_STATUSES = ['approved', 'archived', 'unlisted', 'private', 'draft'] as const
export type RequestableStatus = (typeof REQUESTABLE_STATUSES)[number]

/** Anyone who has the address sees these. */
export const PUBLIC_STATUSES = ['approved', 'archived', 'unlisted', 'withheld'] as const satisfies ProjectStatus[]

/** These stand in search, random lists, statistics and other people's lists. The SQL twin is `is_searchable`. */
const SEARCHABLE_STATUSES = ['approved', 'archived'] as const satisfies ProjectStatus[]

/** A review has passed: the owner may move freely between these. */
const APPROVED_CLASS = ['approved', 'archived', 'unlisted', 'private'] as const satisfies ProjectStatus[]

const isIn = (list: readonly ProjectStatus[], status: string): boolean => (list as readonly string[]).includes(status)

export const isPublicStatus = (status: string): boolean => isIn(PUBLIC_STATUSES, status)
export const isSearchableStatus = (status: string): boolean => isIn(SEARCHABLE_STATUSES, status)
export const isApprovedClass = (status: string): boolean => isIn(APPROVED_CLASS, status)

/**
 * Whether an owner who is no moderator may take a project from `from` to `to`: out of review states only into review;
 * within the approved class freely, back to a draft, or onto the schedule.
 */
export function mayOwnerMove(from: ProjectStatus, to: ProjectStatus): boolean {
  if (isApprovedClass(from)) return isApprovedClass(to) || to === 'draft' || to === 'scheduled'
  return to === 'processing'
}
