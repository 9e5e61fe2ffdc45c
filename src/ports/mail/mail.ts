// The port for outgoing mail, and the form of a message that both adapters send.
import MailComposer from 'nodemailer/lib/mail-composer'
import { ApiError } from '#lib/errors.ts'

export type MailMessage = {
  /** One address, without a name. */
  to: string
  /** One line of at most `SUBJECT_MAX` characters. */
  subject: string
  /** At most `BODY_MAX` characters, as is `html`. */
  text: string
  html?: string
}

export interface Mail {
  /**
   * Hands a message over: to the mail server, or to the disk. Messages may be sent in parallel.
   * @throws ApiError `mail_error` with the reason as its cause: a message that must not be sent (a line break or other
   * control character in address or subject, an address that is none, a text too long), or a failure to hand it over.
   */
  send(message: MailMessage): Promise<void>
  /** Rejects with `mail_error` when a message could not be handed over now. */
  check(): Promise<void>
  close(): Promise<void>
}

export const SUBJECT_MAX = 250
export const BODY_MAX = 200_000

/** Lines of plain text up to here pass every server unchanged (RFC 5321 allows 998 bytes). */
const PLAIN_LINE_MAX = 900

/**
 * Whether a text is an e-mail address that mail can be sent to: at most 254 characters, a local part of letters, digits
 * and the usual signs, and a host name, whose letters may be of any script.
 */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && ADDRESS.test(text)
}

const ADDRESS =
  /^(?=.{1,64}@)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)*[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/** The error of every failure to send; `cause` is for the log alone. */
export function mailError(cause: unknown): ApiError {
  return new ApiError('mail_error', 'The message could not be sent', { cause })
}

/**
 * A message as nodemailer takes it.
 * @param from the sender, an address alone or as `Name <address>`
 * @param at milliseconds since the epoch, for the `Date` header
 * @throws ApiError `mail_error` for a message that must not be sent.
 */
export function toEnvelope(from: string, { to, subject, text, html }: MailMessage, at: number) {
  if (!isMailAddress(to)) throw mailError(new Error('The address is not an e-mail address'))
  if (/[\p{Cc}\u2028\u2029]/u.test(subject)) throw mailError(new Error('The subject has control characters'))
  if (subject.length > SUBJECT_MAX) throw mailError(new Error(`The subject has more than ${SUBJECT_MAX} characters`))
  if (text.length > BODY_MAX || (html?.length ?? 0) > BODY_MAX) {
    throw mailError(new Error(`The text has more than ${BODY_MAX} characters`))
  }
  return {
    from,
    // An object, because text in this place would be parsed and could name several receivers.
    to: { name: '', address: to },
    subject,
    ...(html === undefined ? { text } : { text: plainPart(text), html }),
    date: new Date(at),
    // Tells vacation responders not to answer (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** The whole message as RFC 5322 bytes with CRLF line ends. */
export async function composeMessage(from: string, message: MailMessage, at: number): Promise<Buffer> {
  return new MailComposer({ ...toEnvelope(from, message, at), newline: 'windows' }).compile().build()
}

/**
 * The text part beside an HTML part, as it is where its bytes allow: nodemailer breaks every line over 76 characters,
 * links too, and a link should stay whole for people and programs that read the source.
 */
function plainPart(text: string): string | { raw: string } {
  const lines = text.split(/\r\n|\r|\n/)
  const isPlain = lines.every((line) => line.length <= PLAIN_LINE_MAX && /^[\x20-\x7e\t]*$/.test(line))
  if (!isPlain) return text
  const head = ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 7bit']
  return { raw: [...head, '', ...lines].join('\r\n') }
}
