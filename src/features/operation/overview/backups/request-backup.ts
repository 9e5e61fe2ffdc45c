import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { ApiError, invalidInput, notFound } from '#lib/errors.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { loadChecks } from '../checks/queries.ts'
import { readEncryption } from './load-target.ts'

/** The keys of the jobs: one of each waits at most. */
const JOB_KEYS = { make: 'backups.make', verify: 'backups.verify' }

type RequestDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

/** Makes a backup at BACKUP_TARGET in the background. @throws ApiError `invalid_input` without BACKUP_TARGET */
export async function requestBackup(deps: RequestDeps, actor: Actor): Promise<void> {
  requireTarget(deps)
  await transaction(deps, async (tx) => {
    await enqueue(tx, 'backups.make', {}, { jobKey: JOB_KEYS.make, maxAttempts: 1 })
    await recordAudit(tx, { action: 'backup.requested', actor })
  })
}

/**
 * Verifies a backup at BACKUP_TARGET in the background, by a restore into a scratch folder.
 * @throws ApiError 404 if the last listing has no such backup, `conflict` if it is encrypted: its key is not here
 */
export async function requestVerification(deps: RequestDeps, actor: Actor, name: string): Promise<void> {
  requireTarget(deps)
  const { backup_target: listed } = await loadChecks(deps.db, deps.now())
  if (listed?.backups.some((backup) => backup.name === name) !== true) throw notFound('backup')
  const encrypted = (await readEncryption(deps.db, [name])).get(name) ?? deps.config.backup.recipients.length > 0
  if (encrypted)
    throw new ApiError(
      'conflict',
      'The backup is encrypted; run `depot backup verify` with --identity where its key is',
    )
  await transaction(deps, async (tx) => {
    await enqueue(tx, 'backups.verify', { name }, { jobKey: JOB_KEYS.verify, maxAttempts: 1 })
    await recordAudit(tx, { action: 'backup.verification_requested', actor, details: { name } })
  })
}

function requireTarget({ config }: RequestDeps): void {
  if (config.backup.target === undefined) throw invalidInput('BACKUP_TARGET is not set')
}
