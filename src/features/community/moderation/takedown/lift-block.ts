import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { listBlockedVersions } from './blocks.ts'
import { requireUnblocker } from './policy.ts'

/** Lifts a block. @throws ApiError 403 unless the viewer is an operator, 404 if the content is not blocked */
export async function liftBlock(deps: Pick<Deps, 'db' | 'cache'>, viewer: Viewer, sha512: string): Promise<void> {
  requireUnblocker(viewer)
  await transaction(deps, async (tx, changed) => {
    const row = await tx
      .deleteFrom('blocked_content')
      .where('sha512', '=', sha512.toLowerCase())
      .returning('takedown_id')
      .executeTakeFirst()
    if (row === undefined) throw notFound('blocked file')
    changed.addEach('version', await listBlockedVersions(tx, { sha512: sha512.toLowerCase() }))
    await recordAudit(tx, {
      action: 'content.unblocked',
      actor: actorOf(viewer),
      subject: { kind: 'file', id: sha512.toLowerCase() },
      details: { takedown: row.takedown_id },
    })
  })
}
