// Links in emails that turn off one kind of notification without a session (RFC 8058). The link contains a key that only
// this instance can compute, so that nobody can turn off the emails of others.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { findAccount } from '#features/people/users/queries.ts'
import { invalidInput } from '#lib/errors.ts'
import { isIdForm } from '#lib/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { instanceSecret } from '#platform/db/instance-secret.ts'
import { MAIL_PAGES } from '#ports/mail/messages.ts'
import { type EmailKind, isEmailKind } from './email-kinds.ts'
import { updateEmailSettings } from './update-email-settings.ts'

export type Unsubscription = { user: string; kind: string; key: string }

async function keyOf(db: Db, { user, kind }: { user: string; kind: EmailKind }): Promise<Buffer> {
  const secret = await instanceSecret(db, 'unsubscribe')
  return createHmac('sha256', secret).update(`${user} ${kind}`).digest()
}

/** Returns the URL that turns off a kind of emails to an account. */
export async function unsubscribeLink(
  db: Db,
  { baseUrl, ...of }: { baseUrl: string; user: string; kind: EmailKind },
): Promise<string> {
  const url = new URL(`${baseUrl}${MAIL_PAGES.unsubscribe}`)
  const key = (await keyOf(db, of)).toString('base64url')
  url.search = new URLSearchParams({ user: of.user, kind: of.kind, key }).toString()
  return url.href
}

/** Returns the kind that a link turns off. @throws ApiError `invalid_input` unless the key belongs to the link */
export async function checkUnsubscription(db: Db, { user, kind, key }: Unsubscription): Promise<EmailKind> {
  if (isIdForm(user) && isEmailKind(kind)) {
    const expected = await keyOf(db, { user, kind })
    const given = Buffer.from(key, 'base64url')
    if (given.length === expected.length && timingSafeEqual(given, expected)) return kind
  }
  throw invalidInput('The link is incomplete or was changed', 'key')
}

/** Turns off the emails, unless the account was deleted. @throws ApiError `invalid_input` */
export async function unsubscribe(db: Db, of: Unsubscription): Promise<void> {
  const kind = await checkUnsubscription(db, of)
  if ((await findAccount(db, of.user)) !== undefined) await updateEmailSettings(db, of.user, { [kind]: false })
}
