import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { type DeliveryDeps, deliverMail } from '#features/basics/mail/deliver-mail.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { newSecret } from '#lib/access/tokens.ts'
import { notFound } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { invitationLink, invitationMail } from '#ports/mail/messages.ts'
import type { InvitationInput } from './requests.ts'
import { type NewInvitationView, toInvitationView } from './views.ts'

export type InvitationDeps = DeliveryDeps & Pick<Deps, 'cache' | 'config'>

/** Creates an invitation. Only the result and the email contain the code. */
export async function createInvitation(
  deps: InvitationDeps,
  actor: Actor,
  { uses, expires, email, note }: InvitationInput,
): Promise<NewInvitationView> {
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
  const url = invitationLink(deps.config.http.baseUrl, code)
  return { ...toInvitationView(row), code, url, mailed: await mailInvitation(deps, { email, url, expires }) }
}

/**
 * Sends an invitation immediately, because a job would store the secret. Returns whether the mail server accepted it; the
 * operator has the link in any case.
 */
async function mailInvitation(
  deps: InvitationDeps,
  { email, url, expires }: { email: string | null; url: string; expires: Date },
): Promise<boolean> {
  const { config, log } = deps
  // Without SMTP, emails are written to a folder.
  if (email === null || config.mail.kind !== 'smtp') return false
  const { name: siteName } = await getSettings(deps)
  try {
    const message = { to: email, ...invitationMail({ siteName, baseUrl: config.http.baseUrl, url, expires }) }
    await deliverMail(deps, { kind: 'invitation', accountId: null, message })
    return true
  } catch (err) {
    log.warn({ err }, 'Could not send an invitation by email')
    return false
  }
}

/** Deletes an invitation. Accounts that were created with it remain. @throws ApiError 404. */
export async function revokeInvitation(deps: Pick<Deps, 'db' | 'cache'>, actor: Actor, id: string): Promise<void> {
  await transaction(deps, async (tx) => {
    const deleted = await tx.deleteFrom('invitation').where('id', '=', id).returning('id').executeTakeFirst()
    if (deleted === undefined) throw notFound('invitation')
    await recordAudit(tx, { action: 'invitation.revoked', actor, subject: { kind: 'invitation', id } })
  })
}
