import type { ConfirmOwner, OwnerProof } from '#features/basics/access/confirm-owner.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type Actor, operatorOf } from '#features/basics/audit/actor.ts'

/**
 * Returns the operator of a request. An admin's session must be confirmed; the holder of the admin key has no password.
 * @throws ApiError like `ConfirmOwner`
 */
export async function confirmedOperator(
  { confirmOwner }: { confirmOwner: ConfirmOwner },
  req: { viewer: Viewer | null; clientAddress: string; body: OwnerProof | null },
): Promise<Actor> {
  if (req.viewer !== null) await confirmOwner(req.viewer, req.body ?? {})
  return operatorOf(req)
}
