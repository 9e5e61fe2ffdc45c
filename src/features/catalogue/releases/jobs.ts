// Background work of scheduled releases.
import type { Log } from '#platform/telemetry/log.ts'
import { listDue, type ReleaseDeps } from './queries.ts'
import { releaseProject } from './release-project.ts'
import { releaseVersion } from './release-version.ts'

/** Projects, and as many versions, that one sweep releases. */
const SWEEP_MAX = 1000

export const releaseJobs = (deps: ReleaseDeps & { log: Log }) => {
  // One that cannot be released does not hold up the others.
  const releaseAll = async (kind: 'project' | 'version', release: (id: string) => Promise<boolean>): Promise<void> => {
    for (const id of await listDue(deps.db, kind, new Date(deps.now()), SWEEP_MAX)) {
      await release(id).catch((error: unknown) =>
        deps.log.error({ err: error, [`${kind}_id`]: id }, 'A scheduled release failed; it is tried again in a minute'),
      )
    }
  }
  return {
    // Idempotent, like the next two: what is released is no longer scheduled.
    'projects.release': async ({ project_id: id }: { project_id: string }) => void (await releaseProject(deps, id)),
    'versions.release': async ({ version_id: id }: { version_id: string }) => void (await releaseVersion(deps, id)),
    'releases.sweep': async () => {
      await releaseAll('project', (id) => releaseProject(deps, id))
      await releaseAll('version', (id) => releaseVersion(deps, id))
    },
  }
}
