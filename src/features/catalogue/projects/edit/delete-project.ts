// Deletes a project with its versions, files and images. Reports and the moderation thread remain for moderators.

import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropImages } from '#features/basics/content-images/queries.ts'
import { imageKey, imageUrls } from '#features/basics/images/hosted-image.ts'
import type { Viewer } from '#lib/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { removeLater } from '#ports/files/claims.ts'
import type { CachedProject } from '../lookup/project-cache.ts'
import { listVersionIds, lockProject } from '../queries.ts'

/** @throws ApiError 403 without DELETE_PROJECT. */
export async function deleteProject(
  deps: Deps,
  viewer: Viewer,
  { project, membership }: { project: CachedProject; membership: Membership },
): Promise<void> {
  await transaction(deps, async (tx, changed) => {
    const locked = await lockProject(tx, project.id)
    if (locked === undefined) throw notFound('project')
    // Checked only after the lock: if the project was deleted concurrently, the response must be 404 and not 403.
    requirePermission(viewer, membership, 'DELETE_PROJECT')
    const versionIds = await listVersionIds(tx, locked.id)
    const files = await tx
      .selectFrom('file')
      .innerJoin('version', 'version.id', 'file.version_id')
      .select('file.storage_key')
      .where('version.project_id', '=', locked.id)
      .execute()
    const gallery = await tx
      .selectFrom('gallery_item')
      .select(['url', 'raw_url', 'copy_widths'])
      .where('project_id', '=', locked.id)
      .execute()
    // Deleting the project also deletes the dependency rows of other projects, so their cached versions change.
    const dependents = await tx
      .selectFrom('dependency')
      .select('dependent_id')
      .distinct()
      .where('project_id', '=', locked.id)
      .execute()
    await dropImages(tx, 'project', [locked.id])
    await dropImages(tx, 'version', versionIds)
    await tx.deleteFrom('project').where('id', '=', locked.id).execute()
    await tx.deleteFrom('team').where('id', '=', locked.team_id).execute()
    const urls = [locked.icon_url, locked.raw_icon_url, ...gallery.flatMap(imageUrls)]
    const keys = urls.flatMap((url) => imageKey(deps.config, url) ?? [])
    await removeLater(tx, [...files.map(({ storage_key }) => storage_key), ...new Set(keys)])
    const details = { slug: locked.slug ?? null, name: locked.name }
    const subject = { kind: 'project', id: locked.id } as const
    await recordAudit(tx, { action: 'project.deleted', actor: actorOf(viewer), subject, details })
    changed.add('project', locked.id)
    changed.addEach('version', versionIds)
    const dependentIds = dependents.map(({ dependent_id }) => dependent_id)
    changed.addEach('version', dependentIds)
  })
  recordEvent(deps, 'project.deleted', { project_id: project.id })
}
