import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { type DeliveryDeps, deliverMail, responseOf, toResponse } from '#features/basics/mail/deliver-mail.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { getAccount } from '#features/people/users/queries.ts'
import { ApiError, invalidInput } from '#lib/errors.ts'
import type { Deps } from '#ports/deps.ts'
import { testMail } from '#ports/mail/messages.ts'

export type TestResult = { sent: boolean; response: string }

/**
 * Sends an email to the viewer's own address. Returns the response of the mail server, also if it rejects the email.
 * @throws ApiError `invalid_input` without an email address
 */
export async function sendTestMail(
  deps: DeliveryDeps & Pick<Deps, 'cache' | 'config'>,
  viewer: Viewer,
): Promise<TestResult> {
  const { email, username } = await getAccount(deps.db, viewer.id)
  if (email === null) throw invalidInput('Your account has no email address')
  const { name: siteName } = await getSettings(deps)
  const message = { to: email, ...testMail({ siteName, baseUrl: deps.config.http.baseUrl, username }) }
  const result = await deliver(deps, viewer, message)
  const details = { sent: result.sent, transport: deps.config.mail.kind }
  await recordAudit(deps.db, { action: 'mail.tested', actor: actorOf(viewer), details })
  return result
}

async function deliver(
  deps: DeliveryDeps,
  viewer: Viewer,
  message: { to: string } & ReturnType<typeof testMail>,
): Promise<TestResult> {
  try {
    return { sent: true, response: await deliverMail(deps, { kind: 'test', accountId: viewer.id, message }) }
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'mail_error') throw error
    return { sent: false, response: toResponse(responseOf(error)) }
  }
}
