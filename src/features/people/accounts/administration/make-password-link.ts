import { lockAccount } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { requirePerson } from '#features/people/users/policy.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { passwordLink } from '#ports/mail/messages.ts'
import { FLOW_LIFETIME_MS, insertFlow } from '../mail/flows.ts'
import { requireAdministrable } from '../policy.ts'

/**
 * Creates a link to set a new password, which operators give to the user if Depot cannot send emails. The link works once
 * and expires after 24 hours. Until then, the old password remains valid.
 * @throws ApiError 404, 403 for the placeholder account, 400 for a service account.
 */
export async function makePasswordLink(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  actor: Actor,
  name: string,
): Promise<{ id: string; username: string; url: string; expires: Date }> {
  const { id, username } = requirePerson(requireAdministrable(await getAccountByName(deps.db, name)))
  const now = deps.now()
  const flow = await transaction(deps, async (tx) => {
    const { email } = await lockAccount(tx, id)
    await recordAudit(tx, { action: 'account.password_link_made', actor, subject: { kind: 'user', id } })
    return insertFlow(tx, { kind: 'reset_password', accountId: id, data: { email }, now })
  })
  const expires = new Date(now + FLOW_LIFETIME_MS.reset_password)
  return { id, username, url: passwordLink(deps.config.http.baseUrl, flow), expires }
}
