// Response schemas of outgoing email.
import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Timestamp } from '#lib/schema/schema-parts.ts'
import { JobView } from '../background-jobs/views.ts'

/** The name of a file of the outbox, as the response of a delivery. It has no part of a path. */
export const FILE_NAME = /^[\dTZ-]+-[0-9a-f]{8}\.eml$/

/** Whether the email was written to a file instead of being sent, whichever transport the instance uses now. */
export const isWritten = ({ is_sent, response }: Pick<DeliveryRow, 'is_sent' | 'response'>): boolean =>
  is_sent && FILE_NAME.test(response)

export const DeliveryView = NamedObject('MailDelivery', {
  id: Type.Integer(),
  at: Timestamp,
  kind: Type.String({ description: 'Kind of the email, such as `verify-email`, `notification` or `test`' }),
  account_id: Nullable(Type.String({ description: 'Account of the recipient; null for an invitation' })),
  username: Nullable(Type.String()),
  sent: Type.Boolean({ description: 'Whether the mail server accepted the email, or it was written to a file' }),
  written: Type.Boolean({ description: 'Whether the email was written to a file and not sent' }),
  response: Type.String({
    description:
      'Response of the mail server, without addresses. If it sent no response, the reason; without a mail server, the name of the file of the email',
  }),
})
export type DeliveryView = Static<typeof DeliveryView>

export const MailView = NamedObject('OutgoingMail', {
  transport: Type.Object({
    kind: Type.Enum(['smtp', 'outbox'], {
      description: '`smtp`: emails are sent to a mail server. `outbox`: emails are files in the data folder',
    }),
    from: Type.String({ description: 'Sender of all emails' }),
    server: Nullable(
      Type.String({ description: 'Mail server of `SMTP_URL`, without the user and the password; null for `outbox`' }),
    ),
  }),
  queued: Type.Integer({ description: 'Emails that wait or are being sent' }),
  retrying: Type.Integer({ description: 'Emails that were rejected and are tried again' }),
  failed: Type.Integer({ description: 'Emails that were rejected on the last attempt' }),
  last_24_hours: Type.Object({
    sent: Type.Integer({ description: 'Emails that the mail server accepted, and those that were written to files' }),
    written: Type.Integer({ description: 'Emails that were written to files and not sent' }),
    rejected: Type.Integer({ description: 'Attempts that failed' }),
  }),
  jobs: Type.Array(JobView, { description: 'The 50 last changed jobs that send email' }),
  deliveries: Type.Array(DeliveryView, { description: 'Attempts of the last 7 days, at most 10,000, newest first' }),
  next: Nullable(Type.Integer({ description: '`before` of the next page; null on the last page' })),
})
export type MailView = Static<typeof MailView>

export const WrittenMailView = NamedObject('WrittenMail', {
  id: Type.Integer({ description: 'ID of the delivery' }),
  file: Type.String({ description: 'Name of the file in `DATA_DIR/outbox`' }),
  at: Timestamp,
  to: Type.String({ description: 'Address of the recipient' }),
  subject: Type.String(),
  text: Type.String({ description: 'Plain text of the email' }),
})
export type WrittenMailView = Static<typeof WrittenMailView>

export const TestResultView = NamedObject('TestMailResult', {
  sent: Type.Boolean({ description: 'Whether the mail server accepted the email' }),
  response: Type.String({ description: 'Response of the mail server without addresses' }),
})

export type DeliveryRow = {
  id: number
  at: Date
  kind: string
  account_id: string | null
  username: string | null
  is_sent: boolean
  response: string
}

export function toDeliveryView(row: DeliveryRow): DeliveryView {
  const { at, is_sent: sent, ...rest } = row
  return { ...rest, sent, written: isWritten(row), at: at.toISOString() }
}
