// Requests for the tests of all operations.
import { deliverMail } from '#features/basics/mail/deliver-mail.ts'
import type { Sample } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'
import { listDeliveries } from './mail/queries.ts'

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

/** Writes an email to the outbox. Returns the ID of its delivery. */
const writtenMail = async ({ t }: World): Promise<string> => {
  const message = { to: 'mira@example.org', subject: 'Hello', text: 'Hello' }
  await deliverMail(t.deps, { kind: 'test', accountId: null, message })
  const [delivery] = await listDeliveries(t.deps.db, { limit: 1 })
  return String(delivery?.id)
}

export const SAMPLES: Record<string, Sample> = {
  getWrittenMail: { at: { id: writtenMail } },
  retryJob: { at: { id: failedJob } },
  discardJob: { at: { id: failedJob } },
  retryJobs: { query: { task: 'files.remove' } },
  discardJobs: { query: { task: 'files.remove' } },
}
