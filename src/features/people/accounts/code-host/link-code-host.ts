import type { OwnerProof } from '#features/basics/access/confirm-owner.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { ApiError, notFound, validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { AccountDeps } from '../account-deps.ts'
import { confirmOwner } from '../credentials/confirm-owner.ts'

type LinkDeps = Pick<AccountDeps, 'db' | 'cache' | 'codeHost'>

/**
 * Links the viewer's account with the account at the code host that owns a token. The viewer must have confirmed the
 * password, because tokens of the linked account act for them.
 * @throws ApiError 404 without a code host, `validation_error` naming `token`, `conflict` if the other account is linked
 * already, like `confirmOwner`, 424 if the host does not respond.
 */
export async function linkCodeHost(
  deps: AccountDeps,
  viewer: Viewer,
  { token, proof }: { token: string; proof: OwnerProof },
): Promise<void> {
  const { codeHost } = deps
  if (codeHost === undefined) throw notFound('code host')
  await confirmOwner(deps, viewer, proof)
  const hostId = await codeHost.identify(token)
  if (hostId === undefined) throw validationError('token', 'must be a personal token that the code host accepts')
  await setHostId(deps, viewer, hostId)
}

/** Removes the link, if any. */
export async function unlinkCodeHost(deps: LinkDeps, viewer: Viewer): Promise<void> {
  await setHostId(deps, viewer, null)
}

async function setHostId(deps: LinkDeps, viewer: Viewer, hostId: string | null): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    changed.add('user', viewer.id)
    await tx
      .updateTable('account')
      .set({ code_host_id: hostId })
      .where('id', '=', viewer.id)
      .execute()
      .catch(onUnique({ account_code_host_key: linkedElsewhere }))
    const action = hostId === null ? 'account.code_host_unlinked' : 'account.code_host_linked'
    await recordAudit(tx, { action, actor: actorOf(viewer), subject: { kind: 'user', id: viewer.id } })
  })
}

function linkedElsewhere(): ApiError {
  return new ApiError('conflict', 'This account of the code host is linked to another account', {
    details: { field: 'token', message: 'belongs to an account that is already linked' },
  })
}
