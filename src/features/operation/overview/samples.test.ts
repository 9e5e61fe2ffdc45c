// Requests for the tests of all operations.
import type { Sample } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'

/** Adds a job that has failed on its last attempt. Returns its ID. */
const failedJob = async ({ t }: World): Promise<string> => {
  const { rows } = await t.deps.pool.query<{ id: string }>(
    "select id::text as id from graphile_worker.add_job('files.remove', '{\"keys\":[]}', run_at => now() + interval '1 day')",
  )
  await t.deps.pool.query(
    'update graphile_worker._private_jobs set attempts = max_attempts, last_error = $2 where id = $1::bigint',
    [rows[0]?.id, 'The disk is full'],
  )
  return rows[0]?.id ?? ''
}

export const SAMPLES: Record<string, Sample> = {
  retryJob: { at: { id: failedJob } },
  discardJob: { at: { id: failedJob } },
  retryJobs: { query: { task: 'files.remove' } },
  discardJobs: { query: { task: 'files.remove' } },
}
