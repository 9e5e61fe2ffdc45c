// The port for outgoing email, and the conversion of messages for both adapters.
import { ApiError } from '#lib/errors.ts'

export type MailMessage = {
  /** One email address, without a name. */
  to: string
  /** One line of at most `SUBJECT_MAX` characters. */
  subject: string
  /** At most `BODY_MAX` characters, like `html`. */
  text: string
  html?: string
  /** URL at which a POST without credentials turns off emails of this kind (RFC 8058). */
  unsubscribe?: string
}

export interface Mail {
  /**
   * Sends a message to the mail server or writes it to the disk. Can be called concurrently. Returns the response of the
   * server, or the name of the file.
   * @throws ApiError `mail_error`, with its cause, if the message is invalid or cannot be sent or written
   */
  send(message: MailMessage): Promise<string>
  /** @throws ApiError `mail_error` if a message could not be sent now. */
  check(): Promise<void>
  close(): Promise<void>
}

export const SUBJECT_MAX = 250
export const BODY_MAX = 200_000

/** Every server transmits lines up to this length unchanged (RFC 5321 allows 998 bytes). */
const PLAIN_LINE_MAX = 900

/**
 * Whether a text is a valid email address: at most 254 characters, a local part of letters, digits and common punctuation,
 * and a host name with letters of any script.
 */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && ADDRESS.test(text)
}

const ADDRESS =
  /^(?=.{1,64}@)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)*[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/** Returns the error for a message that could not be sent; only the log contains the cause. */
export function mailError(cause: unknown): ApiError {
  return new ApiError('mail_error', 'The message could not be sent', { cause })
}

/**
 * Converts a message for nodemailer. `from`: an address or `Name <address>`. `at`: milliseconds since 1970, for `Date`.
 * @throws ApiError `mail_error` for an invalid message
 */
export function toEnvelope(from: string, { to, subject, text, html, unsubscribe }: MailMessage, at: number) {
  if (!isMailAddress(to)) throw mailError(new Error('The address is not an email address'))
  if (/[\p{Cc}\u2028\u2029]/u.test(subject)) throw mailError(new Error('The subject has control characters'))
  if (subject.length > SUBJECT_MAX) throw mailError(new Error(`The subject has more than ${SUBJECT_MAX} characters`))
  if (text.length > BODY_MAX || (html?.length ?? 0) > BODY_MAX)
    throw mailError(new Error(`The text has more than ${BODY_MAX} characters`))
  return {
    from,
    // An object, because a string would be parsed and could name several recipients.
    to: { name: '', address: to },
    subject,
    ...(html === undefined ? { text } : { text: plainPart(text), html }),
    date: new Date(at),
    // Prevents automatic replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(unsubscribe) },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Mail programs offer one click only for https. */
function unsubscribeHeaders(url: string | undefined): Record<string, string> {
  if (url === undefined) return {}
  const list = { 'List-Unsubscribe': `<${url}>` }
  return url.startsWith('https:') ? { ...list, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : list
}

/** Returns the whole message (RFC 5322) with CRLF line ends. The first message loads the library. */
export async function composeMessage(from: string, message: MailMessage, at: number): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  return new MailComposer({ ...toEnvelope(from, message, at), newline: 'windows' }).compile().build()
}

/**
 * Returns the text part of a message with an HTML part. Nodemailer would break lines, including links, at 76 characters, so
 * an ASCII text with short lines is passed unchanged.
 */
function plainPart(text: string): string | { raw: string } {
  const lines = text.split(/\r\n|\r|\n/)
  const isPlain = lines.every((line) => line.length <= PLAIN_LINE_MAX && /^[\x20-\x7e\t]*$/.test(line))
  if (!isPlain) return text
  const head = ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 7bit']
  return { raw: [...head, '', ...lines].join('\r\n') }
}
