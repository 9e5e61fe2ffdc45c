import { requireVerifiedEmail } from '#features/basics/access/email-policy.ts'
import { checkQuota } from '#features/basics/limits/quota.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { insertCollection, replaceProjects, resolveProjects } from './queries.ts'
import { type CollectionInput, checkName } from './requests.ts'

/**
 * Creates a listed collection and returns its ID.
 * @throws ApiError 403 without a verified email address, `limit_reached`, `validation_error` naming `projects.N`.
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
  await transaction(deps, async (tx) => {
    await checkQuota(tx, deps.config, viewer, 'collections')
    await insertCollection(tx, { id, account_id: viewer.id, name, description: input.description ?? null, created })
    await replaceProjects(tx, { collectionId: id, projectIds, field: 'projects' })
  })
  recordEvent(deps, 'collection.created', { collection_id: id })
  return id
}
