import { lockAccount } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { requireRoom } from '#features/basics/limits/quota.ts'
import { grantProblem, scopeNames } from '#lib/access/scopes.ts'
import { newToken } from '#lib/access/tokens.ts'
import { validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { checkExpiry, checkTokenName } from './requests.ts'
import type { AccessTokenRow } from './views.ts'

/** Maximum number of tokens of an account, including expired tokens that are not deleted yet. */
const TOKENS_MAX = 200

type NewAccessToken = { actor: Actor; accountId: string; name: string; scopes: number; expires: Date }

/**
 * Creates a personal access token and notifies its owner by email. `token` is the secret, which cannot be read again.
 * @throws ApiError `validation_error` naming the field, `limit_reached`.
 */
export async function createAccessToken(
  deps: Pick<Deps, 'db' | 'cache' | 'log' | 'metrics' | 'now'>,
  { actor, accountId, name, scopes, expires }: NewAccessToken,
): Promise<{ row: AccessTokenRow; token: string }> {
  const now = deps.now()
  checkTokenName(name)
  const problem = grantProblem(scopes, 'an access token')
  if (problem !== undefined) throw validationError('scopes', problem)
  checkExpiry(expires, now)
  const { token, hash } = newToken('pat')
  const row = await transaction(deps, async (tx) => {
    await lockAccount(tx, accountId)
    await requireRoom(tx, accountId, { table: 'personal_access_token', max: TOKENS_MAX, things: 'access tokens' })
    const inserted = await tx
      .insertInto('personal_access_token')
      .values({ id: newId(), account_id: accountId, name, token_hash: hash, scopes, created: new Date(now), expires })
      .returningAll()
      .executeTakeFirstOrThrow()
    await enqueue(tx, 'accounts.send-mail', { kind: 'token-created', account_id: accountId, token_id: inserted.id })
    await recordAudit(tx, {
      action: 'token.created',
      actor,
      subject: { kind: 'access_token', id: inserted.id },
      accountIds: [accountId],
      details: { scopes: scopeNames(scopes), expires: expires.toISOString() },
    })
    return inserted
  })
  recordEvent(deps, 'token.created', { account_id: accountId, token_id: row.id })
  return { row, token }
}
