import { requireVerifiedEmail } from '#features/basics/access/email-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { checkQuota } from '#features/basics/limits/quota.ts'
import { accountDeleted } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { isForeignKeyViolation } from '#platform/db/pg-errors.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { announceCollection, replaceProjects, resolveProjects } from './queries.ts'
import { type CollectionInput, checkName } from './requests.ts'

/**
 * Creates a listed collection and returns its ID.
 * @throws ApiError 401 if the account was deleted in the meantime, 403 without a verified email address, `limit_reached`, `validation_error` naming `projects.N`.
 */
export async function createCollection(
  deps: Pick<Deps, 'db' | 'cache' | 'config' | 'log' | 'metrics' | 'now'>,
  viewer: Viewer,
  input: CollectionInput,
): Promise<string> {
  requireVerifiedEmail(deps, viewer)
  const name = checkName(input.name)
  const projectIds = await resolveProjects(deps.db, viewer, { names: input.projects ?? [], field: 'projects' })
  const id = newId()
  const created = new Date(deps.now())
  await transaction(deps, async (tx, changed) => {
    await checkQuota(tx, deps.config, viewer, 'collections')
    await tx
      .insertInto('collection')
      .values({ id, account_id: viewer.id, name, description: input.description ?? null, created, updated: created })
      .execute()
      .catch((error) => {
        throw isForeignKeyViolation(error) ? accountDeleted() : error
      })
    const subject = { kind: 'collection', id } as const
    await recordAudit(tx, { action: 'collection.created', actor: actorOf(viewer), subject })
    await replaceProjects(tx, { collectionId: id, projectIds, field: 'projects' })
    announceCollection(changed, { account_id: viewer.id })
  })
  recordEvent(deps, 'collection.created', { collection_id: id })
  return id
}
