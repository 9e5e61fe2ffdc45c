// Making an account, for people who sign up and for operators on the command line.

import { assertUsernameFree, usernameTaken } from '#features/people/users/queries.ts'
import type { Role } from '#lib/access/viewer.ts'
import { validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { USERNAME } from '#lib/text/text-rules.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { isMailAddress } from '#ports/mail/mail.ts'
import type { Passwords } from '../passwords/passwords.ts'
import { assertEmailFree, emailTaken } from '../queries.ts'

export type AccountFields = { username: string; email: string; password: string }

/** Checked, and the password hashed: ready for a transaction, in which hashing would hold locks for too long. */
export type PreparedAccount = { username: string; email: string; passwordHash: string }

/** `caller` is the key of the address that asks (`addressKey`); absent for the operator. */
type Checks = { db: Db; passwords: Passwords; caller?: string }

/**
 * Checks the fields of a new account; nothing is changed.
 * @throws ApiError `validation_error` or `conflict` naming the first wrong field.
 */
export async function checkNewAccount({ db, passwords, caller }: Checks, fields: AccountFields): Promise<void> {
  const { username, email, password } = fields
  if (!USERNAME.test(username))
    throw validationError('username', 'must be 1-39 letters, digits, dots, underscores or hyphens')
  checkEmail(email)
  await assertUsernameFree(db, username)
  await passwords.check(password, { username, email }, 'password', caller)
  await assertEmailFree(db, email)
}

/** @throws ApiError as `checkNewAccount` */
export async function prepareAccount(checks: Checks, fields: AccountFields): Promise<PreparedAccount> {
  await checkNewAccount(checks, fields)
  const passwordHash = await checks.passwords.hash(fields.password, checks.caller)
  return { username: fields.username, email: fields.email, passwordHash }
}

/**
 * Writes a prepared account and returns its ID. An address that is not verified gets a message with a link.
 * @throws ApiError `conflict` when the name or the address was taken meanwhile.
 */
export async function createAccount(
  tx: Tx,
  account: PreparedAccount & { role?: Role; emailVerified: boolean; now: number },
): Promise<string> {
  const id = newId()
  await tx
    .insertInto('account')
    .values({
      id,
      username: account.username,
      email: account.email,
      email_verified: account.emailVerified,
      password_hash: account.passwordHash,
      role: account.role ?? 'developer',
      created: new Date(account.now),
    })
    .execute()
    .catch(onUnique({ account_username_key: usernameTaken, account_email_key: emailTaken }))
  if (!account.emailVerified) await enqueue(tx, 'accounts.send-mail', { kind: 'verify-email', account_id: id })
  return id
}

/** @throws ApiError `validation_error` naming `email` */
export function checkEmail(email: string): void {
  if (!isMailAddress(email)) throw validationError('email', 'must be an e-mail address')
}
