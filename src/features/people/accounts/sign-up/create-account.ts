// Validates and creates accounts, for sign-ups and for the command line.

import type { Role } from '#features/basics/access/viewer.ts'
import { recordEvent } from '#features/basics/events/record-event.ts'
import { assertUsernameFree, usernameTaken } from '#features/people/users/queries.ts'
import { validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import type { OfferedTag } from '#lib/languages.ts'
import { USERNAME } from '#lib/text/text-rules.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { isMailAddress } from '#ports/mail/mail.ts'
import type { Passwords } from '../passwords/passwords.ts'
import { emailTaken, findAccountBySignInName } from '../queries.ts'

export type AccountFields = { username: string; email: string; password: string }

/** A validated account. The password is hashed before the transaction, because hashing takes too long for its locks. */
/** `passwordHash`: null if the user signs in with another service. */
type PreparedAccount = { username: string; email: string; passwordHash: string | null }

/**
 * `caller` is the `addressKey` of the client; absent for the operator. `mayAnswer` counts an answer that an email address has an
 * account, and returns false if the client must not receive it; absent for the operator.
 */
type Checks = { db: Db; now: () => number; passwords: Passwords; caller?: string; mayAnswer?: () => Promise<boolean> }

/** The checks of a new account by field. Each throws ApiError `validation_error` or `conflict` naming the field. */
export const ACCOUNT_CHECKS: Readonly<
  Record<keyof AccountFields, (checks: Checks, fields: AccountFields) => Promise<void>>
> = {
  username: async (checks, { username }) => {
    checkUsername(username)
    await assertUsernameFree(checks, username)
  },
  email: async ({ db, mayAnswer }, { email }) => {
    checkEmail(email)
    if ((await findAccountBySignInName(db, email)) === undefined) return
    if (mayAnswer === undefined || (await mayAnswer())) throw emailTaken()
  },
  password: ({ passwords, caller }, { username, email, password }) =>
    passwords.check(password, { username, email }, 'password', caller),
}

/**
 * Validates the fields of a new account. A temporary password is random, so it is not rated.
 * @throws ApiError `validation_error` or `conflict` naming the first invalid field.
 */
export async function checkNewAccount(checks: Checks, fields: AccountFields, isTemporary = false): Promise<void> {
  await ACCOUNT_CHECKS.username(checks, fields)
  await ACCOUNT_CHECKS.email(checks, fields)
  if (!isTemporary) await ACCOUNT_CHECKS.password(checks, fields)
}

/** Validates a new account and hashes its password. @throws ApiError like `checkNewAccount` */
export async function prepareAccount(
  checks: Checks,
  fields: AccountFields & { isTemporary?: boolean },
): Promise<PreparedAccount> {
  const { username, email, password, isTemporary = false } = fields
  await checkNewAccount(checks, fields, isTemporary)
  return { username, email, passwordHash: await checks.passwords.hash(password, checks.caller) }
}

/** Validates a new account that signs in with another service, without a password. @throws ApiError like `checkNewAccount` */
export async function prepareOther(checks: Checks, fields: AccountFields): Promise<PreparedAccount> {
  await checkNewAccount(checks, fields, true)
  return { username: fields.username, email: fields.email, passwordHash: null }
}

/**
 * Inserts an account and returns its ID. Sends a verification link if the email address is not verified. With a temporary
 * password, the user must choose another one at the first sign-in.
 * @throws ApiError `conflict` if another account now has the username or email address.
 */
export async function createAccount(
  tx: Tx,
  account: PreparedAccount & {
    role?: Role
    emailVerified: boolean
    passwordIsTemporary?: boolean
    awaitsApproval?: boolean
    /** Absent: unknown. */
    language?: OfferedTag | undefined
    now: number
  },
): Promise<string> {
  const id = newId()
  const { username, email, emailVerified: email_verified, passwordHash: password_hash, role = 'developer' } = account
  const password_is_temporary = account.passwordIsTemporary ?? false
  await tx
    .insertInto('account')
    .values({
      id,
      username,
      email,
      email_verified,
      password_hash,
      password_is_temporary,
      awaits_approval: account.awaitsApproval ?? false,
      language: account.language ?? null,
      role,
      created: new Date(account.now),
    })
    .execute()
    .catch(onUnique({ account_username_key: usernameTaken, account_email_key: emailTaken }))
  if (!email_verified) await enqueue(tx, 'accounts.send-mail', { kind: 'verify-email', account_id: id })
  await recordEvent(tx, { kind: 'account.created', subject: { kind: 'user', id }, data: { user_id: id } })
  return id
}

/** @throws ApiError `validation_error` naming `email` */
export function checkEmail(email: string): void {
  if (!isMailAddress(email)) throw validationError('email', 'must be an email address')
}

/** @throws ApiError `validation_error` naming `username` */
export function checkUsername(username: string): void {
  if (!USERNAME.test(username))
    throw validationError('username', 'must be 1 to 39 letters, digits, dots, underscores or hyphens')
}
