// Announces that a version or a project can no longer be chosen, so that a job finds the dependencies that have broken.
import { sql } from 'kysely'
import type { Tx } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { isPublicStatus, PUBLIC_STATUSES } from '#taxonomy/project-status.ts'
import { newestOfDependents } from './impact-queries.ts'

export type LossReason = 'withdrawn' | 'hidden' | 'removed'

/** The version must be listed, or named by dependencies, before the change. */
export async function announceLostVersion(
  tx: Tx,
  { id, project_id, loaders, fields }: { id: string; project_id: string; loaders: string[]; fields: unknown },
  { reason, at }: { reason: LossReason; at: Date },
): Promise<void> {
  // The job cannot read a version that was removed.
  const gameVersions = (fields as Record<string, unknown>)['game_versions']
  await enqueue(tx, 'dependencies.find-broken', {
    reason,
    project_id,
    version_id: id,
    loaders,
    game_versions: Array.isArray(gameVersions) ? gameVersions.map(String) : null,
    at: at.getTime(),
  })
}

/** Announces a project that stops being public. */
export async function announceHiddenProject(
  tx: Tx,
  projectId: string,
  { from, to, at }: { from: string; to: string; at: Date },
): Promise<void> {
  if (!isPublicStatus(from) || isPublicStatus(to)) return
  const lost = { project_id: projectId, version_id: null, loaders: [], game_versions: null }
  await enqueue(tx, 'dependencies.find-broken', { reason: 'hidden', ...lost, at: at.getTime() })
}

/** Records the dependencies on projects that are about to be deleted, because the deletion removes their rows. */
export async function announceRemovedProjects(tx: Tx, projectIds: readonly string[]): Promise<void> {
  for (const projectId of projectIds) {
    const dependents = sql`select distinct version.project_id as id from dependency
      join version on version.id = dependency.dependent_id and is_listed(version.status)
      where dependency.project_id = ${projectId} and dependency.dependency_type = 'required'`
    await sql`insert into dependency_break (project_id, version_id, cause, reason, lost_project_id)
      select distinct newest.project_id, newest.id, ${`removed:${projectId}`}, 'removed', ${projectId}
      from (${newestOfDependents(projectId, dependents)}) newest
      join project on project.id = newest.project_id and project.status = any(${[...PUBLIC_STATUSES]}::text[])
      cross join lateral (
        select from dependency where dependency.dependent_id = newest.id and dependency.project_id = ${projectId}
          and dependency.dependency_type = 'required' offset 0) dependency
      where newest.project_id <> all(${[...projectIds]}::text[])
      on conflict do nothing`.execute(tx)
  }
  await enqueue(tx, 'dependencies.notify', {}, { jobKey: 'dependencies.notify' })
}
