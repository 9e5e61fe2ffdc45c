import { transaction } from '#cache/transaction.ts'
import { onUnique } from '#db/pg-errors.ts'
import { ApiError, notFound, validationError } from '#lib/errors.ts'
import type { Deps } from '#main/deps.ts'
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
  { accountId, token }: { accountId: string; token: string },
): Promise<void> {
  if (codeHost === undefined) throw notFound('code host')
  const hostId = await codeHost.identify(token)
  if (hostId === undefined) throw validationError('token', 'is no personal token that the code host knows')
  await setHostId(deps, { accountId, hostId })
}

/** Ends the link; nothing happens where there is none. */
export async function unlinkCodeHost(deps: LinkDeps, accountId: string): Promise<void> {
  await setHostId(deps, { accountId, hostId: null })
}

async function setHostId(
  deps: LinkDeps,
  { accountId, hostId }: { accountId: string; hostId: string | null },
): Promise<void> {
  await transaction(deps, (tx) =>
    tx
      .updateTable('account')
      .set({ code_host_id: hostId })
      .where('id', '=', accountId)
      .execute()
      .catch(onUnique({ account_code_host_key: linkedElsewhere })),
  )
}

function linkedElsewhere(): ApiError {
  return new ApiError('conflict', 'This account of the code host is linked with another account', {
    details: { field: 'token', message: 'belongs to an account that is linked already' },
  })
}
