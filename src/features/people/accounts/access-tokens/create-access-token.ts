import { lockAccount } from '#features/basics/access/accounts.ts'
import type { OwnerProof } from '#features/basics/access/confirm-owner.ts'
import { grantProblem, scopeNames } from '#features/basics/access/scopes.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { type Actor, actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { requireRoom } from '#features/basics/limits/quota.ts'
import { newToken } from '#lib/access/tokens.ts'
import { validationError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import type { AccountDeps } from '../account-deps.ts'
import { confirmOwner } from '../credentials/confirm-owner.ts'
import { checkLimits, networksColumn, type TokenLimits } from './limits.ts'
import { type AccessTokenRow, TOKEN_COLUMNS } from './queries.ts'
import { checkExpiry, checkTokenName } from './requests.ts'

/** Maximum number of tokens of an account, including expired tokens that are not deleted yet. */
const TOKENS_MAX = 200

type NewAccessToken = {
  actor: Actor
  accountId: string
  /** The member who creates a token of a service account. */
  makerId?: string
  name: string
  scopes: number
  expires: Date
  /** Null: the token can do what its scopes allow, everywhere. */
  limits: TokenLimits | null
}

/** Checks a new token without creating it. @throws ApiError `validation_error` naming the field. */
export async function checkAccessToken(
  { db, config, now }: Pick<Deps, 'db' | 'config' | 'now'>,
  { accountId, limits, ...fields }: Omit<NewAccessToken, 'actor' | 'makerId'>,
): Promise<void> {
  checkFields({ config, now: now() }, fields)
  await checkLimits(db, accountId, limits)
}

function checkFields(
  { config, now }: { config: Deps['config']; now: number },
  { name, scopes, expires }: Pick<NewAccessToken, 'name' | 'scopes' | 'expires'>,
): void {
  checkTokenName(name)
  const problem = grantProblem(scopes, 'an access token')
  if (problem !== undefined) throw validationError('scopes', problem)
  checkExpiry(expires, now, config)
}

/**
 * Creates a personal access token of the viewer, who must have confirmed the password.
 * @throws ApiError like `confirmOwner` and `createAccessToken`
 */
export async function createOwnAccessToken(
  deps: AccountDeps,
  viewer: Viewer,
  { proof, ...token }: Omit<NewAccessToken, 'actor' | 'accountId' | 'makerId'> & { proof: OwnerProof },
): Promise<{ row: AccessTokenRow; token: string }> {
  await confirmOwner(deps, viewer, proof)
  return createAccessToken(deps, { ...token, actor: actorOf(viewer), accountId: viewer.id })
}

/**
 * Creates a personal access token and notifies its owner by email, or the member who creates a token of a service account. `token` is the secret, which cannot be read again.
 * @throws ApiError `validation_error` naming the field, `limit_reached`.
 */
export async function createAccessToken(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'log' | 'metrics' | 'now'>,
  { actor, accountId, makerId, name, scopes, expires, limits }: NewAccessToken,
): Promise<{ row: AccessTokenRow; token: string }> {
  const now = deps.now()
  checkFields({ config: deps.config, now }, { name, scopes, expires })
  const { token, hash } = newToken('pat')
  const row = await transaction(deps, async (tx) => {
    await lockAccount(tx, accountId)
    await requireRoom(tx, accountId, { table: 'personal_access_token', max: TOKENS_MAX, things: 'access tokens' })
    const { addresses, ...resources } = await checkLimits(tx, accountId, limits)
    const inserted = await tx
      .insertInto('personal_access_token')
      .values({
        ...{ id: newId(), account_id: accountId, name, token_hash: hash, scopes, created: new Date(now), expires },
        ...resources,
        addresses: networksColumn(addresses),
        created_by: makerId ?? null,
      })
      .returning(TOKEN_COLUMNS)
      .executeTakeFirstOrThrow()
    await enqueue(tx, 'accounts.send-mail', {
      kind: 'token-created',
      account_id: makerId ?? accountId,
      token_id: inserted.id,
    })
    await recordAudit(tx, {
      action: 'token.created',
      actor,
      subject: { kind: 'access_token', id: inserted.id },
      accountIds: [accountId],
      details: {
        scopes: scopeNames(scopes),
        expires: expires.toISOString(),
        ...(resources.project_ids === null ? {} : { projects: resources.project_ids }),
        ...(resources.organization_ids === null ? {} : { organizations: resources.organization_ids }),
        ...(addresses === null ? {} : { networks: addresses.length }),
      },
    })
    return inserted
  })
  recordEvent(deps, 'token.created', { account_id: accountId, token_id: row.id })
  return { row, token }
}
