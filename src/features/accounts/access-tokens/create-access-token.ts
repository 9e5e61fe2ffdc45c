import type { Tx } from '#db/db.ts'
import { lockAccount } from '#features/access/accounts.ts'
import { enqueue } from '#jobs/queue.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { grantFault } from '#lib/scopes.ts'
import { checkText } from '#lib/text-rules.ts'
import { newToken } from '#lib/tokens.ts'
import type { AccessTokenRow } from './views.ts'

export const TOKEN_NAME_LENGTH_MIN = 3
export const TOKEN_NAME_LENGTH_MAX = 255
/** Expired ones count too until they are deleted. */
const TOKENS_MAX = 200
/** Longer than any program is left alone, shorter than for ever. */
const LIFETIME_YEARS_MAX = 10
const YEAR_MS = 366 * 86_400_000

export type NewAccessToken = { accountId: string; name: string; scopes: number; expires: Date; now: number }

/**
 * Makes a personal access token; `token` is its secret, which nobody can read again. Its owner is told by mail.
 * @throws ApiError `validation_error` naming the faulty field, `limit_reached` from 200 tokens on
 */
export async function createPersonalAccessToken(
  tx: Tx,
  { accountId, name, scopes, expires, now }: NewAccessToken,
): Promise<{ row: AccessTokenRow; token: string }> {
  checkTokenName(name)
  const scopeFault = grantFault(scopes, 'an access token')
  if (scopeFault !== undefined) throw validationError('scopes', scopeFault)
  checkExpiry(expires, now)
  await lockAccount(tx, accountId)
  const { count } = await tx
    .selectFrom('personal_access_token')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (count >= TOKENS_MAX)
    throw new ApiError('limit_reached', `An account has at most ${TOKENS_MAX} access tokens; delete one first`)
  const { token, hash } = newToken('pat')
  const row = await tx
    .insertInto('personal_access_token')
    .values({ id: newId(), account_id: accountId, name, token_hash: hash, scopes, created: new Date(now), expires })
    .returningAll()
    .executeTakeFirstOrThrow()
  await enqueue(tx, 'accounts.send-mail', { kind: 'token-created', account_id: accountId, token_id: row.id })
  return { row, token }
}

/** @throws ApiError `validation_error` naming `name` */
export function checkTokenName(name: string): void {
  checkText(name, 'name', { min: TOKEN_NAME_LENGTH_MIN, max: TOKEN_NAME_LENGTH_MAX, visible: true })
}

/** @throws ApiError `validation_error` naming `expires`, which must be in the future and at most ten years away */
export function checkExpiry(expires: Date, now: number): void {
  const at = expires.getTime()
  if (Number.isNaN(at)) throw validationError('expires', 'must be a point in time')
  if (at <= now) throw validationError('expires', 'must be in the future')
  if (at > now + LIFETIME_YEARS_MAX * YEAR_MS)
    throw validationError('expires', `must be at most ${LIFETIME_YEARS_MAX} years away`)
}
