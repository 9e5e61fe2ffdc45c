import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { updateTokenRow } from './queries.ts'
import { type TokenPatch, toTokenColumns } from './requests.ts'

/** Changes the name or the expiry of a token. @throws ApiError `validation_error` naming the field, 404. */
export async function updateAccessToken(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  viewer: Viewer,
  { id, patch }: { id: string; patch: TokenPatch },
): Promise<void> {
  const values = toTokenColumns(patch, deps.now())
  await transaction(deps, async (tx, changed) => {
    if (!(await updateTokenRow(tx, changed, { accountId: viewer.id, id, values }))) throw notFound('access token')
    const details = { fields: Object.keys(values) }
    const subject = { kind: 'access_token', id } as const
    await recordAudit(tx, { action: 'token.changed', actor: actorOf(viewer), subject, details })
  })
}
