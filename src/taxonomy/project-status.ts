// Project statuses: who can see a project, and which transitions its owner can make. The SQL conditions are generated from
// the same lists.

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

/** Statuses that an owner can request in a review. */
export const REQUESTABLE_STATUSES = ['approved', 'archived', 'unlisted', 'private', 'draft'] as const

/** Statuses of projects that anyone with the URL can see. */
export const PUBLIC_STATUSES = ['approved', 'archived', 'unlisted', 'withheld'] as const satisfies ProjectStatus[]

/** Statuses of projects in the search, random lists, statistics and lists of other users. In SQL: `is_searchable`. */
const SEARCHABLE_STATUSES = ['approved', 'archived'] as const satisfies ProjectStatus[]

/** Statuses of reviewed projects. The owner can change between them. */
const APPROVED_CLASS = ['approved', 'archived', 'unlisted', 'private'] as const satisfies ProjectStatus[]

const isIn = (list: readonly ProjectStatus[], status: string): boolean => (list as readonly string[]).includes(status)

export const isPublicStatus = (status: string): boolean => isIn(PUBLIC_STATUSES, status)
export const isSearchableStatus = (status: string): boolean => isIn(SEARCHABLE_STATUSES, status)
export const isApprovedClass = (status: string): boolean => isIn(APPROVED_CLASS, status)

/**
 * Whether an owner who is not a moderator can change the status. A reviewed project can get any status of a reviewed
 * project, become a draft or be scheduled. A project under review can become a draft again. Any other project can only be
 * submitted for review.
 */
export function mayOwnerMove(from: ProjectStatus, to: ProjectStatus): boolean {
  if (isApprovedClass(from)) return isApprovedClass(to) || to === 'draft' || to === 'scheduled'
  return to === 'processing' || (from === 'processing' && to === 'draft')
}
