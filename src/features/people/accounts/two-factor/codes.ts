// The second factor: codes of an authenticator program (RFC 6238), and backup codes for when it is lost.
import { Secret, TOTP } from 'otpauth'
import type { AccountRow } from '#features/people/users/queries.ts'
import { hashToken } from '#lib/access/tokens.ts'
import { randomBase62 } from '#lib/ids.ts'
import type { Tx } from '#platform/db/db.ts'

const STEP_MS = 30_000
/** Steps before and after the present one whose codes are taken too, for clocks that differ. */
const SKEW = 1
const BACKUP_CODES = 6
/** 65 random bits: too many to guess even without the throttle. */
const BACKUP_CODE_LENGTH = 11

function totp(secret: Secret, username = ''): TOTP {
  return new TOTP({ issuer: 'Depot', label: username, algorithm: 'SHA1', digits: 6, period: STEP_MS / 1000, secret })
}

/** A new secret as base32 text, and as an address. */
export function newTotpSecret(username: string): { secret: string; uri: string } {
  const { base32: secret } = new Secret({ size: 20 })
  return { secret, uri: totpUri(secret, username) }
}

/** A secret as the address that authenticator programs read. */
export function totpUri(secret: string, username: string): string {
  return totp(Secret.fromBase32(secret), username).toString()
}

/** The number of the 30-second step whose code this is; undefined when it is of none around `now`. */
export function totpStep({ secret, code, now }: { secret: string; code: string; now: number }): number | undefined {
  const token = withoutSpaces(code)
  if (!/^\d{6}$/.test(token)) return undefined
  const delta = totp(Secret.fromBase32(secret)).validate({ token, timestamp: now, window: SKEW })
  return delta === null ? undefined : Math.floor(now / STEP_MS) + delta
}

/**
 * Whether the code is one of the account's, which it thereby uses up: a TOTP code and those before it, or one backup
 * code. Both statements decide by themselves, so that of parallel uses a single one succeeds.
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

/** Six new backup codes in place of the old ones; only their hashes are kept. */
export async function replaceBackupCodes(tx: Tx, accountId: string): Promise<string[]> {
  await tx.deleteFrom('backup_code').where('account_id', '=', accountId).execute()
  const codes = Array.from({ length: BACKUP_CODES }, () => randomBase62(BACKUP_CODE_LENGTH))
  await tx
    .insertInto('backup_code')
    .values(codes.map((code) => ({ account_id: accountId, code_hash: hashToken(code) })))
    .execute()
  return codes
}

/** Programs show codes in groups, and people type them so. */
function withoutSpaces(code: string): string {
  return code.replaceAll(/\s/g, '')
}
