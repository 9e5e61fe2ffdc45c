// Two-factor codes of authenticator apps (RFC 6238), and backup codes.
import { randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { hasSecondFactor } from '#features/basics/access/accounts.ts'
import type { AccountRow } from '#features/people/users/queries.ts'
import { hashToken } from '#lib/access/tokens.ts'
import { countRows, type Db, type Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { deleteFlows } from '../mail/flows.ts'

const STEP_MS = 30_000
/** Number of steps before and after the current one whose codes are accepted, for clocks that differ. */
const SKEW = 1
const BACKUP_CODES = 6
/** Letters and digits that look different on paper: no 0, 1, i, l, o. 12 of them have 59 random bits. */
const BACKUP_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'
const BACKUP_GROUPS = 3
const BACKUP_GROUP_LENGTH = 4

function totp(secret: Secret, username = ''): TOTP {
  return new TOTP({ issuer: 'Depot', label: username, algorithm: 'SHA1', digits: 6, period: STEP_MS / 1000, secret })
}

/** Returns a new secret in base32 and as an otpauth URI. */
export function newTotpSecret(username: string): { secret: string; uri: string } {
  const { base32: secret } = new Secret({ size: 20 })
  return { secret, uri: totpUri(secret, username) }
}

/** Returns a secret as an otpauth URI. */
export function totpUri(secret: string, username: string): string {
  return totp(Secret.fromBase32(secret), username).toString()
}

/** Returns the number of the 30-second step of a code; undefined if the code is not valid around `now`. */
export function totpStep({ secret, code, now }: { secret: string; code: string; now: number }): number | undefined {
  const token = withoutSpaces(code)
  if (!/^\d{6}$/.test(token)) return undefined
  const delta = totp(Secret.fromBase32(secret)).validate({ token, timestamp: now, window: SKEW })
  return delta === null ? undefined : Math.floor(now / STEP_MS) + delta
}

/**
 * Returns whether the code is valid, and invalidates it: a TOTP code with all earlier ones, or a backup code. Of
 * concurrent uses, only one succeeds.
 */
export async function useCode(
  tx: Tx,
  account: AccountRow,
  { code, now }: { code: string; now: number },
): Promise<boolean> {
  if (!hasSecondFactor(account)) return false
  const step = account.totp_secret === null ? undefined : totpStep({ secret: account.totp_secret, code, now })
  if (step === undefined) return useBackupCode(tx, account.id, code)
  const { numUpdatedRows } = await tx
    .updateTable('account')
    .set({ totp_last_step: step })
    .where('id', '=', account.id)
    .where('totp_last_step', '<', step)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Notifies the user by email, because somebody could have found the paper. */
async function useBackupCode(tx: Tx, accountId: string, code: string): Promise<boolean> {
  const used = await tx
    .deleteFrom('backup_code')
    .where('account_id', '=', accountId)
    .where('code_hash', 'in', hashesOf(code))
    .returning('account_id')
    .execute()
  if (used.length !== 1) return false
  await enqueue(tx, 'accounts.send-mail', { kind: 'backup-code-used', account_id: accountId })
  return true
}

/** Codes of earlier versions contain capitals and no hyphens. */
function hashesOf(code: string): Buffer[] {
  const text = withoutSpaces(code)
  return [hashToken(text), hashToken(text.replaceAll('-', '').toLowerCase())]
}

/** Returns the number of unused backup codes of an account. */
export function countBackupCodes(db: Db, accountId: string): Promise<number> {
  return countRows(db.selectFrom('backup_code').where('account_id', '=', accountId))
}

/** Removes the secret of an account and, if the account has no passkey, what belongs to two-factor sign-in. */
export async function removeTwoFactor(tx: Tx, accountId: string): Promise<void> {
  const account = await tx
    .updateTable('account')
    .set({ totp_secret: null })
    .where('id', '=', accountId)
    .returning(['totp_secret', 'passkey_count'])
    .executeTakeFirstOrThrow()
  if (!hasSecondFactor(account)) await endSecondFactor(tx, accountId)
}

/** Deletes the backup codes of an account, and incomplete sign-ins, which would wait for a code. */
export async function endSecondFactor(tx: Tx, accountId: string): Promise<void> {
  await tx.deleteFrom('backup_code').where('account_id', '=', accountId).execute()
  await deleteFlows(tx, accountId, ['sign_in_second_factor'])
}

/** Replaces the backup codes and returns the new ones. Only their hashes are stored. */
export async function replaceBackupCodes(tx: Tx, accountId: string): Promise<string[]> {
  await tx.deleteFrom('backup_code').where('account_id', '=', accountId).execute()
  const codes = Array.from({ length: BACKUP_CODES }, newBackupCode)
  await tx
    .insertInto('backup_code')
    .values(codes.map((code) => ({ account_id: accountId, code_hash: hashToken(code.replaceAll('-', '')) })))
    .execute()
  return codes
}

/** Returns a code in groups, such as `k7mq-4w9x-2ptd`. */
function newBackupCode(): string {
  const group = () =>
    Array.from({ length: BACKUP_GROUP_LENGTH }, () => BACKUP_ALPHABET[randomInt(BACKUP_ALPHABET.length)])
  return Array.from({ length: BACKUP_GROUPS }, () => group().join('')).join('-')
}

/** Removes spaces, because apps show codes in groups and users type them that way. */
function withoutSpaces(code: string): string {
  return code.replaceAll(/\s/g, '')
}
