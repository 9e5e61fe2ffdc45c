import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { newSecret } from '#lib/access/tokens.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { invitationLink, invitationMail } from '#ports/mail/messages.ts'
import type { InvitationInput } from './requests.ts'
import { type MadeInvitation, toInvitationView } from './views.ts'

type InvitationDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now' | 'mail' | 'log'>

/** Makes an invitation; its code is in the result alone, and in a mail to its address where mail leaves. */
export async function createInvitation(
  deps: InvitationDeps,
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
  const url = invitationLink(deps.config.http.baseUrl, code)
  return { ...toInvitationView(row), code, url, mailed: await mailInvitation(deps, { email, url, expires }) }
}

/**
 * Sent at once and not by a job, in whose row the secret would lie. Whether it was handed over: the operator has the link
 * in any case.
 */
async function mailInvitation(
  deps: InvitationDeps,
  { email, url, expires }: { email: string | null; url: string; expires: Date },
): Promise<boolean> {
  const { config, mail, log } = deps
  // In a folder nobody reads it.
  if (email === null || config.mail.kind !== 'smtp') return false
  const { name: siteName } = await getSettings(deps)
  try {
    await mail.send({ to: email, ...invitationMail({ siteName, baseUrl: config.http.baseUrl, url, expires }) })
    return true
  } catch (err) {
    log.warn({ err }, 'An invitation could not be mailed')
    return false
  }
}
