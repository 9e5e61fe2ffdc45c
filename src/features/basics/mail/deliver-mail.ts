// Sends an email and records the response of the mail server for operators.
import { QUIET, quietSince } from '#features/basics/settings/quiet.ts'
import { ApiError, reasonOf } from '#lib/errors.ts'
import { withoutPeople } from '#platform/telemetry/log.ts'
import type { Deps } from '#ports/deps.ts'
import type { MailMessage } from '#ports/mail/mail.ts'

/** The dependencies of everything that sends email. */
export type DeliveryDeps = Pick<Deps, 'db' | 'mail' | 'metrics' | 'log' | 'now'>

export type Delivery = {
  /** Kind of the email, such as `verify-email`. */
  kind: string
  /** Account of the recipient, if there is one. */
  accountId: string | null
  message: MailMessage
}

export const RESPONSE_LENGTH_MAX = 500

/** Sends an email. Returns the response of the mail server. @throws ApiError `mail_error` */
export async function deliverMail(deps: DeliveryDeps, { kind, accountId, message }: Delivery): Promise<string> {
  if ((await quietSince(deps.db)) !== null) throw new ApiError('mail_error', QUIET)
  try {
    const response = toResponse(await deps.mail.send(message))
    await record(deps, { kind, accountId, isSent: true, response })
    return response
  } catch (error) {
    await record(deps, { kind, accountId, isSent: false, response: toResponse(responseOf(error)) })
    throw error
  }
}

/** Returns the response of the server to a rejected email, or the reason why there is none. */
export function responseOf(error: unknown): string {
  const cause = error instanceof ApiError ? error.cause : undefined
  const response = cause instanceof Error && 'response' in cause ? cause.response : undefined
  return typeof response === 'string' ? response : cause instanceof Error ? cause.message : reasonOf(error)
}

/** Returns a response as one line without addresses. */
export function toResponse(text: string): string {
  return withoutPeople(text)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, RESPONSE_LENGTH_MAX)
}

type Outcome = { kind: string; accountId: string | null; isSent: boolean; response: string }

/** A failure is only logged, because a repeated job would send the email again. */
async function record(deps: DeliveryDeps, { kind, accountId, isSent, response }: Outcome): Promise<void> {
  deps.metrics.figures.add(isSent ? 'mails_sent' : 'mails_rejected')
  try {
    await deps.db
      .insertInto('mail_delivery')
      .values({ at: new Date(deps.now()), kind, account_id: accountId, is_sent: isSent, response })
      .execute()
  } catch (err) {
    deps.log.warn({ err }, 'Could not record the response of the mail server')
  }
}
