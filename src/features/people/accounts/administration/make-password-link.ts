import { lockAccount } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getAccountByName } from '#features/people/users/queries.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { passwordLink } from '#ports/mail/messages.ts'
import { insertFlow, lifetimeOf } from '../mail/flows.ts'
import { requireAdministrable } from './policy.ts'

/**
 * A link to set a new password, as a mail would carry it, for operators to hand over where no mail leaves. It works
 * once, for a day; the password stays as it is until then.
 * @throws ApiError 404, 403 for the placeholder.
 */
export async function makePasswordLink(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  actor: Actor,
  name: string,
): Promise<{ id: string; username: string; url: string; expires: Date }> {
  const { id, username } = requireAdministrable(await getAccountByName(deps.db, name))
  const now = deps.now()
  const flow = await transaction(deps, async (tx) => {
    const { email } = await lockAccount(tx, id)
    await recordAudit(tx, { action: 'account.password_link_made', actor, subject: { kind: 'user', id } })
    return insertFlow(tx, { kind: 'reset_password', accountId: id, data: { email }, now })
  })
  const expires = new Date(now + lifetimeOf('reset_password'))
  return { id, username, url: passwordLink(deps.config.http.baseUrl, flow), expires }
}
