// Background job of takedowns.
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'
import { blockImages } from './block-images.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'takedowns.block-images': { takedownId: string }
  }
}

export const takedownJobs = (deps: Deps) => ({
  // Idempotent: images that are blocked stay blocked.
  'takedowns.block-images': job<{ takedownId: string }>({}, ({ takedownId }) => blockImages(deps, takedownId)),
})
