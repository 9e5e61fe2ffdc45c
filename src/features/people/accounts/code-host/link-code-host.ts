import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { ApiError, notFound, validationError } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { Deps } from '#ports/deps.ts'
import type { CodeHost } from './code-host.ts'

type LinkDeps = Pick<Deps, 'db' | 'cache'>

/**
 * Links an account with the one at the code host whose token this is.
 * @param codeHost undefined where none is configured.
 * @throws ApiError 404 without a code host, `validation_error` naming `token`, `conflict` when it is linked elsewhere,
 * 424 when the host does not answer.
 */
export async function linkCodeHost(
  deps: LinkDeps,
  codeHost: CodeHost | undefined,
  viewer: Viewer,
  token: string,
): Promise<void> {
  if (codeHost === undefined) throw notFound('code host')
  const hostId = await codeHost.identify(token)
  if (hostId === undefined) throw validationError('token', 'is no personal token that the code host knows')
  await setHostId(deps, viewer, hostId)
}

/** Ends the link; nothing happens where there is none. */
export async function unlinkCodeHost(deps: LinkDeps, viewer: Viewer): Promise<void> {
  await setHostId(deps, viewer, null)
}

async function setHostId(deps: LinkDeps, viewer: Viewer, hostId: string | null): Promise<void> {
  await transaction(deps, async (tx) => {
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
  return new ApiError('conflict', 'This account of the code host is linked with another account', {
    details: { field: 'token', message: 'belongs to an account that is linked already' },
  })
}
