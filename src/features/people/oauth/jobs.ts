// The job that deletes expired consent requests, codes and tokens.

import { deleteExpired } from '#features/people/accounts/jobs.ts'
import { job } from '#platform/jobs/job.ts'
import type { Deps } from '#ports/deps.ts'

declare module '#platform/jobs/queue.ts' {
  interface Jobs {
    'oauth.expire': NoPayload
  }
}

export const oauthJobs = ({ db, now }: Pick<Deps, 'db' | 'now'>) => ({
  // Idempotent: a second run finds nothing.
  'oauth.expire': job({ hourly: 47 }, async (_payload, signal) => {
    for (const table of ['oauth_flow', 'oauth_code', 'oauth_token'])
      await deleteExpired(db, { table, column: 'expires', at: new Date(now()) }, signal)
  }),
})
