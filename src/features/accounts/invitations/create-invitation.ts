import { transaction } from '#cache/transaction.ts'
import type { Actor } from '#features/audit/actor.ts'
import { recordAudit } from '#features/audit/record-audit.ts'
import { newId } from '#lib/ids.ts'
import { newSecret } from '#lib/tokens.ts'
import { invitationLink } from '#mail/messages.ts'
import type { Deps } from '#main/deps.ts'
import type { InvitationInput } from './requests.ts'
import { type MadeInvitation, toInvitationView } from './views.ts'

/** Makes an invitation; its code is in the result alone. */
export async function createInvitation(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'now'>,
  actor: Actor,
  { uses, expires, email, note }: InvitationInput,
): Promise<MadeInvitation> {
  const { secret: code, hash } = newSecret()
  const id = newId()
  const row = await transaction(deps, async (tx) => {
    const subject = { kind: 'invitation', id } as const
    const details = { uses, expires: expires.toISOString(), has_email: email !== null }
    await recordAudit(tx, { action: 'invitation.created', actor, subject, details })
    return tx
      .insertInto('invitation')
      .values({ id, code_hash: hash, email, note, uses_max: uses, created: new Date(deps.now()), expires })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
  return { ...toInvitationView(row), code, url: invitationLink(deps.config.http.baseUrl, code) }
}
