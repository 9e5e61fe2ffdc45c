// Adds a trusted publisher to a project or an organization.
import type { ConfirmOwner } from '#features/basics/access/confirm-owner.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { insertNotifications } from '#features/people/notifications/queries.ts'
import { ApiError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import { onUnique } from '#platform/db/pg-errors.ts'
import type { Deps } from '#ports/deps.ts'
import { getOwner, type OwnerName, subjectOf } from './publisher-owner.ts'
import { listOwnerIds, listPublishers, type PublisherFacts, type PublisherOwner } from './queries.ts'
import { type NewPublisher, toPublisherColumns } from './requests.ts'

/** Maximum number of publishers of a project or an organization. */
const PUBLISHERS_MAX = 100

export type PublisherDeps = Deps & { confirmOwner: ConfirmOwner }

/**
 * Adds a trusted publisher, after the viewer has confirmed their password, and notifies the owners.
 * @throws ApiError 404, 403, 401 with `details.field`, `validation_error` naming the field, `conflict`, `limit_reached`.
 */
export async function addPublisher(
  deps: PublisherDeps,
  viewer: Viewer,
  { kind, name, body }: OwnerName & { body: NewPublisher },
): Promise<PublisherFacts> {
  const owner = await getOwner(deps, viewer, { kind, name }, 'add')
  const columns = toPublisherColumns(body, deps.config.ci.issuers)
  await deps.confirmOwner(viewer, body)
  return transaction(deps, async (tx, changed) => {
    await lockOwner(tx, owner)
    const existing = await listPublishers(tx, owner)
    if (existing.length >= PUBLISHERS_MAX) {
      throw new ApiError(
        'limit_reached',
        `There can be at most ${PUBLISHERS_MAX} trusted publishers. Remove one first.`,
      )
    }
    const row = await tx
      .insertInto('trusted_publisher')
      .values({ id: newId(), ...owner, ...columns, created_by: viewer.id, created: new Date(deps.now()) })
      .returningAll()
      .executeTakeFirstOrThrow()
      .catch(onUnique({ trusted_publisher_key: sameExists }))
    await recordAudit(tx, {
      action: 'trusted_publisher.added',
      actor: actorOf(viewer),
      subject: subjectOf(owner),
      details: { issuer: columns.issuer, repository: columns.repository, workflow: columns.workflow },
    })
    await insertNotifications(tx, changed, await listOwnerIds(tx, owner), {
      type: 'publisher_added',
      ...owner,
      repository: columns.repository,
      user_id: viewer.id,
    })
    return { ...row, works: true }
  })
}

async function lockOwner(tx: Tx, { project_id, organization_id }: PublisherOwner): Promise<void> {
  const [table, id] =
    project_id === null ? (['organization', organization_id] as const) : (['project', project_id] as const)
  await tx
    .selectFrom(table)
    .select('id')
    .where('id', '=', id ?? '')
    .forNoKeyUpdate()
    .execute()
}

function sameExists(): ApiError {
  return new ApiError(
    'conflict',
    'There is already a trusted publisher with this repository, workflow, environment and ref',
  )
}
