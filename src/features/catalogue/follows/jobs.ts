// Notifies followers of a new version.

import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { isPublicStatus } from '#taxonomy/project-status.ts'
import { type FollowerBatch, notifyFollowers } from './queries.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'versions.notify-followers': { version_id: string }
  }
}

/** Number of followers that one statement notifies: at most about a second of work. */
const BATCH = 10_000

export const followJobs = (deps: Pick<Deps, 'db' | 'cache'>) => ({
  // Idempotent: the database stores one notification per account and cause. Notifies no one if the version is no longer
  // listed or is withdrawn, or if the project is no longer public.
  'versions.notify-followers': async (
    { version_id: versionId }: { version_id: string },
    signal: AbortSignal,
  ): Promise<void> => {
    const version = await deps.db
      .selectFrom('version')
      .innerJoin('project', 'project.id', 'version.project_id')
      .select([
        'version.status',
        'version.withdrawn_at',
        'project.id as project_id',
        'project.status as project_status',
      ])
      .where('version.id', '=', versionId)
      .executeTakeFirst()
    if (version === undefined || version.status !== 'listed' || !isPublicStatus(version.project_status)) return
    if (version.withdrawn_at !== null) return
    let afterId: string | undefined = ''
    while (afterId !== undefined) {
      signal.throwIfAborted()
      const part: FollowerBatch = { projectId: version.project_id, versionId, afterId, limit: BATCH }
      afterId = await transaction(deps, (tx, changed) => notifyFollowers(tx, changed, part))
    }
  },
})
