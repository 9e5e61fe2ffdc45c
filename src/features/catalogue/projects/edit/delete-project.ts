// Deletes a project with its versions, files and images. Reports and the moderation thread remain for moderators.

import type { Selectable } from 'kysely'
import { type Membership, requirePermission } from '#features/basics/access/project-policy.ts'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { actorOf } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { dropImages } from '#features/basics/content-images/queries.ts'
import { projectEvent, recordEvents } from '#features/basics/events/record-event.ts'
import { imageKeys } from '#features/basics/images/hosted-image.ts'
import { removeImages } from '#features/basics/images/icons.ts'
import { announceRemovedProjects } from '#features/catalogue/breakage/announce-loss.ts'
import { deleteNotificationsAbout } from '#features/people/notifications/queries.ts'
import { notFound } from '#lib/errors.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Project } from '#platform/db/schema.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'
import { removeLater } from '#ports/files/claims.ts'
import type { CachedProject } from '../lookup/project-cache.ts'
import { lockProject } from '../queries.ts'

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
    await eraseProjects(tx, changed, [locked])
    const details = { slug: locked.slug ?? null, name: locked.name }
    const subject = { kind: 'project', id: locked.id } as const
    await recordAudit(tx, { action: 'project.deleted', actor: actorOf(viewer), subject, details })
  })
  recordEvent(deps, 'project.deleted', { project_id: project.id })
}

type LockedProject = Pick<Selectable<Project>, 'id' | 'team_id' | 'icon_url' | 'raw_icon_url'>

/** Deletes at least one locked project with its team, versions, files and images. Its thread and reports remain. */
export async function eraseProjects(tx: Tx, changed: ChangeSet, projects: readonly LockedProject[]): Promise<void> {
  const ids = projects.map(({ id }) => id)
  const teamIds = projects.map(({ team_id }) => team_id)
  const versions = await tx.selectFrom('version').select('id').where('project_id', 'in', ids).execute()
  const versionIds = versions.map(({ id }) => id)
  const files = await tx
    .selectFrom('file')
    .innerJoin('version', 'version.id', 'file.version_id')
    .select('file.storage_key')
    .where('version.project_id', 'in', ids)
    .execute()
  const gallery = await tx
    .selectFrom('gallery_item')
    .select(['url', 'raw_url', 'copy_widths'])
    .where('project_id', 'in', ids)
    .execute()
  // Deleting a project also deletes the dependency rows of other projects, so their cached versions change.
  const dependents = await tx
    .selectFrom('dependency')
    .select('dependent_id as id')
    .distinct()
    .where('project_id', 'in', ids)
    .execute()
  const removals = ids.map((id) => projectEvent('project.removed', id, { state: 'removed' }))
  await recordEvents(tx, removals)
  await announceRemovedProjects(tx, ids)
  await dropImages(tx, 'project', ids)
  await dropImages(tx, 'version', versionIds)
  await deleteNotificationsAbout(tx, changed, 'project_id', ids)
  await tx.deleteFrom('project').where('id', 'in', ids).execute()
  await tx.deleteFrom('team').where('id', 'in', teamIds).execute()
  const fileKeys = files.map(({ storage_key }) => storage_key)
  await removeLater(tx, fileKeys)
  const icons = projects.flatMap(({ icon_url, raw_icon_url }) => [icon_url, raw_icon_url])
  await removeImages(tx, [...icons, ...gallery.flatMap(imageKeys)])
  changed.addEach('project', ids)
  changed.addEach('version', [...versionIds, ...dependents.map(({ id }) => id)])
}
