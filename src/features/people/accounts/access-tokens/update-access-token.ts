// Changes and revokes access tokens, immediately in every process.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { type Actor, actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import type { AccountDeps } from '../account-deps.ts'
import { confirmOwner } from '../credentials/confirm-owner.ts'
import type { TokenReference } from '../requests.ts'
import { listAccessTokens } from './queries.ts'
import { type TokenPatch, toTokenColumns } from './requests.ts'

/**
 * Changes the name or the expiry of a token. A later expiry needs a confirmed password, as a new token does.
 * @throws ApiError `validation_error` naming the field, 404, and like `confirmOwner`.
 */
export async function updateAccessToken(
  deps: AccountDeps,
  viewer: Viewer,
  { id, patch: { password, code, ...patch } }: { id: string; patch: TokenPatch },
): Promise<void> {
  const values = toTokenColumns(patch, { now: deps.now(), config: deps.config })
  const current = (await listAccessTokens(deps.db, viewer.id)).find((row) => row.id === id)
  if (values.expires !== undefined && current !== undefined && new Date(values.expires) > current.expires)
    await confirmOwner(deps, viewer, { password, code })
  await transaction(deps, async (tx, changed) => {
    const row = await tx
      .updateTable('personal_access_token')
      .set({ ...values, account_id: viewer.id })
      .where('account_id', '=', viewer.id)
      .where('id', '=', id)
      .returning('token_hash')
      .executeTakeFirst()
    if (row === undefined) throw notFound('access token')
    changed.add('token', row.token_hash.toString('hex'))
    const details = { fields: Object.keys(values) }
    const subject = { kind: 'access_token', id } as const
    await recordAudit(tx, { action: 'token.changed', actor: actorOf(viewer), subject, details })
  })
}

/** Revokes a token of an account. @throws ApiError 404. */
export async function deleteAccessToken(
  deps: Pick<Deps, 'db' | 'cache'>,
  { accountId, token, actor }: { accountId: string; token: TokenReference; actor: Actor },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const row = await tx
      .deleteFrom('personal_access_token')
      .where('account_id', '=', accountId)
      .where((eb) => ('id' in token ? eb('id', '=', token.id) : eb('token_hash', '=', token.hash)))
      .returning(['id', 'token_hash'])
      .executeTakeFirst()
    if (row === undefined) throw notFound('access token')
    changed.add('token', row.token_hash.toString('hex'))
    await recordAudit(tx, { action: 'token.deleted', actor, subject: { kind: 'access_token', id: row.id } })
  })
}
