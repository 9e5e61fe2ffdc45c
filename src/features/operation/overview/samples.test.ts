// Requests for the tests of all operations.
import { COMMAND } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { deliverMail } from '#features/basics/mail/deliver-mail.ts'
import type { Sample } from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'
import { saveCheck } from './checks/queries.ts'
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

/** Lists a backup that is not encrypted. Returns its name. */
const storedBackup = async ({ t }: World): Promise<string> => {
  const name = 'depot-20261129T031500000Z-abcd1234'
  const value = { backups: [{ name, bytes: 4 }], files_bytes: 10, error: null }
  await saveCheck(t.deps.db, 'backup_target', { value, at: new Date(t.deps.now()) })
  await recordAudit(t.deps.db, { action: 'backup.made', actor: COMMAND, details: { name, encrypted: false } })
  return name
}

/** Writes an email to the outbox. Returns the ID of its delivery. */
const writtenMail = async ({ t }: World): Promise<string> => {
  const message = { to: 'mira@example.org', subject: 'Hello', text: 'Hello' }
  await deliverMail(t.deps, { kind: 'test', accountId: null, message })
  const [delivery] = await listDeliveries(t.deps.db, { limit: 1 })
  return String(delivery?.id)
}

export const SAMPLES: Record<string, Sample> = {
  verifyBackup: { at: { name: storedBackup } },
  getWrittenMail: { at: { id: writtenMail } },
  retryJob: { at: { id: failedJob } },
  discardJob: { at: { id: failedJob } },
  retryJobs: { query: { task: 'files.remove' } },
  discardJobs: { query: { task: 'files.remove' } },
}
