// Removes a trusted publisher of a project or an organization.

import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { getOwner, type OwnerName, subjectOf } from './publisher-owner.ts'

/** Removes a publisher. Its tokens end. @throws ApiError 404, 403. */
export async function removePublisher(
  deps: Deps,
  viewer: Viewer,
  { id, ...name }: OwnerName & { id: string },
): Promise<void> {
  const owner = await getOwner(deps, viewer, name, 'remove')
  await transaction(deps, async (tx) => {
    const row = await tx
      .deleteFrom('trusted_publisher')
      .where('id', '=', id)
      .where((eb) =>
        owner.project_id === null
          ? eb('organization_id', '=', owner.organization_id)
          : eb('project_id', '=', owner.project_id),
      )
      .returning(['issuer', 'repository', 'workflow'])
      .executeTakeFirst()
    if (row === undefined) throw notFound('trusted publisher')
    await recordAudit(tx, {
      action: 'trusted_publisher.removed',
      actor: actorOf(viewer),
      subject: subjectOf(owner),
      details: row,
    })
  })
}
