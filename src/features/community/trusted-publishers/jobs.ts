// Deletes what has expired.
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'publishers.expire': NoPayload
  }
}

export const publisherJobs = ({ db, now }: Pick<Deps, 'db' | 'now'>) => ({
  'publishers.expire': job({ hourly: 21 }, async () => {
    const at = new Date(now())
    await db.deleteFrom('used_ci_token').where('expires', '<=', at).execute()
    await db.deleteFrom('publisher_token').where('expires', '<=', at).execute()
  }),
})
