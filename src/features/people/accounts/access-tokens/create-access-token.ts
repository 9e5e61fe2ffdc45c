import { lockAccount } from '#features/basics/access/accounts.ts'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { grantProblem, scopeNames } from '#lib/access/scopes.ts'
import { newToken } from '#lib/access/tokens.ts'
import { ApiError, validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { countAccessTokens, insertAccessToken } from './queries.ts'
import { checkExpiry, checkTokenName } from './requests.ts'
import type { AccessTokenRow } from './views.ts'

/** Expired ones count too until they are deleted. */
const TOKENS_MAX = 200

export type NewAccessToken = { actor: Actor; accountId: string; name: string; scopes: number; expires: Date }

/**
 * Makes a personal access token; `token` is its secret, which nobody can read again. Its owner is notified by mail.
 * @throws ApiError `validation_error` naming the field, `limit_reached` from 200 tokens on.
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
    if ((await countAccessTokens(tx, accountId)) >= TOKENS_MAX)
      throw new ApiError('limit_reached', `An account has at most ${TOKENS_MAX} access tokens; delete one first`)
    const created = new Date(now)
    const made = await insertAccessToken(tx, {
      id: newId(),
      account_id: accountId,
      name,
      token_hash: hash,
      scopes,
      created,
      expires,
    })
    await enqueue(tx, 'accounts.send-mail', { kind: 'token-created', account_id: accountId, token_id: made.id })
    await recordAudit(tx, {
      action: 'token.created',
      actor,
      subject: { kind: 'access_token', id: made.id },
      accountIds: [accountId],
      details: { scopes: scopeNames(scopes), expires: expires.toISOString() },
    })
    return made
  })
  recordEvent(deps, 'token.created', { account_id: accountId, token_id: row.id })
  return { row, token }
}
