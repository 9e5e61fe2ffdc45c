// The job that adds new game versions.
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import type { TagEditDeps } from './edit-tag-list.ts'
import { readGameVersions } from './read-game-versions.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'tags.read-game-versions': NoPayload
  }
}

export const tagJobs = (deps: TagEditDeps & Pick<Deps, 'config' | 'log'>) => ({
  // Idempotent: a second run finds nothing new.
  'tags.read-game-versions': job(
    { everyMinutes: 360, atMinute: 29, changesContent: true },
    async (_payload, signal) => {
      if (deps.config.versionManifestUrl === undefined) return
      const added = await readGameVersions(deps, SYSTEM, signal)
      if (added.length > 0) deps.log.info({ versions: added.slice(0, 20) }, 'Added new game versions to the tags')
    },
  ),
})
