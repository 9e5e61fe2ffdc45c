// Two-factor codes of authenticator apps (RFC 6238), and backup codes.
import { Secret, TOTP } from 'otpauth'
import type { AccountRow } from '#features/people/users/queries.ts'
import { hashToken } from '#lib/access/tokens.ts'
import { randomBase62 } from '#lib/ids.ts'
import type { Tx } from '#platform/db/db.ts'

const STEP_MS = 30_000
/** Number of steps before and after the current one whose codes are accepted, for clocks that differ. */
const SKEW = 1
const BACKUP_CODES = 6
/** 65 random bits, which cannot be guessed even without a limit. */
const BACKUP_CODE_LENGTH = 11

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
  if (account.totp_secret === null) return false
  const step = totpStep({ secret: account.totp_secret, code, now })
  if (step === undefined) return useBackupCode(tx, account.id, code)
  const { numUpdatedRows } = await tx
    .updateTable('account')
    .set({ totp_last_step: step })
    .where('id', '=', account.id)
    .where('totp_last_step', '<', step)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

async function useBackupCode(tx: Tx, accountId: string, code: string): Promise<boolean> {
  const used = await tx
    .deleteFrom('backup_code')
    .where('account_id', '=', accountId)
    .where('code_hash', '=', hashToken(withoutSpaces(code)))
    .returning('account_id')
    .execute()
  return used.length === 1
}

/** Removes the secret and the backup codes of an account. */
export async function removeTwoFactor(tx: Tx, accountId: string): Promise<void> {
  await tx.updateTable('account').set({ totp_secret: null }).where('id', '=', accountId).execute()
  await tx.deleteFrom('backup_code').where('account_id', '=', accountId).execute()
}

/** Replaces the backup codes and returns the new ones. Only their hashes are stored. */
export async function replaceBackupCodes(tx: Tx, accountId: string): Promise<string[]> {
  await tx.deleteFrom('backup_code').where('account_id', '=', accountId).execute()
  const codes = Array.from({ length: BACKUP_CODES }, () => randomBase62(BACKUP_CODE_LENGTH))
  await tx
    .insertInto('backup_code')
    .values(codes.map((code) => ({ account_id: accountId, code_hash: hashToken(code) })))
    .execute()
  return codes
}

/** Removes spaces, because apps show codes in groups and users type them that way. */
function withoutSpaces(code: string): string {
  return code.replaceAll(/\s/g, '')
}
