// Permissions for cleanups of accounts.
import { isPlaceholder } from '#features/basics/access/placeholder.ts'
import { isAdmin, type Viewer } from '#features/basics/access/viewer.ts'
import { ApiError, forbidden } from '#lib/errors.ts'
import { CLEANUP_UNDO_MS, type CleanupAction } from './requests.ts'

/** Facts about an account that decide whether a viewer can clean it up. */
export type CleanupFacts = {
  id: string
  role: string
  service_of: string | null
  deletion_due: Date | null
  /** Whether a project of the account was ever approved. */
  published: boolean
  /** Whether the account is part of a cleanup that can still be undone. */
  cleaned: boolean
}

export const SKIP_REASONS = ['missing', 'own', 'service', 'admin', 'operator', 'cleaned'] as const
export type SkipReason = (typeof SKIP_REASONS)[number]

/** Moderators can mark accounts as spam; the other actions are for operators. */
export function mayClean(viewer: Viewer, action: CleanupAction): boolean {
  return action === 'spam' || isAdmin(viewer)
}

/** @throws ApiError 403 unless the viewer can choose the action */
export function requireCleaner(viewer: Viewer, action: CleanupAction): void {
  if (!mayClean(viewer, action)) throw forbidden('Only operators can choose this action; moderators can mark as spam')
}

/** Returns whether an operator must decide about the account: a member of the staff, or somebody who has published. */
const needsOperator = ({ role, published }: CleanupFacts): boolean => role !== 'developer' || published

/** Returns whether the operator must confirm the password: for everything that moderators cannot do. */
export function needsProof(action: CleanupAction, accounts: readonly CleanupFacts[]): boolean {
  return action !== 'spam' || accounts.some(needsOperator)
}

/** Returns why an account is left out of a cleanup; undefined if it is part of it. */
export function skipReason(
  viewer: Viewer,
  account: CleanupFacts | undefined,
  { isProven }: { isProven: boolean },
): SkipReason | undefined {
  if (account === undefined || account.deletion_due !== null || isPlaceholder(account)) return 'missing'
  if (account.id === viewer.id) return 'own'
  if (account.service_of !== null) return 'service'
  // The page of the account makes sure that another admin remains.
  if (account.role === 'admin') return 'admin'
  if (needsOperator(account) && !(isAdmin(viewer) && isProven)) return 'operator'
  return account.cleaned ? 'cleaned' : undefined
}

/** @throws ApiError 403 for the action of an operator, `conflict` after an hour */
export function requireCleanupUndoer(viewer: Viewer, row: { action: string; created: Date }, nowMs: number): void {
  requireCleaner(viewer, row.action as CleanupAction)
  if (row.created.getTime() + CLEANUP_UNDO_MS <= nowMs)
    throw new ApiError('conflict', 'The cleanup is more than an hour old and can no longer be undone')
}
