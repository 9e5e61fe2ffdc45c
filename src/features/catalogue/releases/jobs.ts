// Background jobs that release scheduled projects and versions.
import { job } from '#platform/jobs/job.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { listDue, type ReleaseDeps, releaseProject, releaseVersion } from './release-project.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'projects.release': { project_id: string }
    'releases.sweep': NoPayload
    'versions.release': { version_id: string }
  }
}

/** Maximum number of projects, and of versions, that one sweep releases. */
const SWEEP_MAX = 1000

export const releaseJobs = (deps: ReleaseDeps & { log: Log }) => {
  // A release that fails must not block the others.
  const releaseAll = async (kind: 'project' | 'version', release: (id: string) => Promise<boolean>): Promise<void> => {
    for (const id of await listDue(deps.db, kind, new Date(deps.now()), SWEEP_MAX)) {
      await release(id).catch((error: unknown) =>
        deps.log.error(
          { err: error, [`${kind}_id`]: id },
          'A scheduled release failed; the worker retries it in a minute',
        ),
      )
    }
  }
  return {
    // All three jobs are idempotent: a released project or version is no longer scheduled.
    'projects.release': job(
      { changesContent: true },
      async ({ project_id: id }: { project_id: string }) => void (await releaseProject(deps, id)),
    ),
    'versions.release': job(
      { changesContent: true },
      async ({ version_id: id }: { version_id: string }) => void (await releaseVersion(deps, id)),
    ),
    'releases.sweep': job({ everyMinutes: 1, changesContent: true }, async () => {
      await releaseAll('project', (id) => releaseProject(deps, id))
      await releaseAll('version', (id) => releaseVersion(deps, id))
    }),
  }
}
