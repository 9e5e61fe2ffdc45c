// Who may undo a deletion by signing in.
import { ApiError } from '#lib/errors.ts'

/**
 * Asked once the password has proved right: only the owner learns of the deletion.
 * @throws ApiError 403 unless the owner has asked for the deletion, and now wants to `undo` it.
 */
export function requireUndoable({ due, byOwner, undo }: { due: Date; byOwner: boolean; undo: boolean }): void {
  if (byOwner && undo) return
  const end = due.toISOString()
  const text = byOwner
    ? `This account will be deleted on ${end}. Until then its owner can undo that when signing in.`
    : `An operator has deleted this account. It ends for good on ${end}; until then an operator can restore it.`
  throw new ApiError('forbidden', text, { details: { deletion_due: end, can_undo: byOwner } })
}
