// The jobs that list and verify the backups at BACKUP_TARGET. Their results are checks, so that no page waits for a bucket.
import { SYSTEM } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { listTarget } from '#features/operation/backup/scheduled/target.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { Deps } from '#ports/deps.ts'
import { saveCheck } from '../checks/queries.ts'

/** Number of backups that operators see; a target has fewer unless BACKUP_KEEP is large. */
const LISTED_MAX = 1_000
const REASON_LENGTH_MAX = 500

/** Lists BACKUP_TARGET. @throws OperatorError if it cannot be used */
export type ListTarget = () => ReturnType<typeof listTarget>

/** Stores what BACKUP_TARGET contains, or why it cannot be read. */
export async function listBackupTarget(
  { db, config, now }: Pick<Deps, 'db' | 'config' | 'now'>,
  list: ListTarget,
): Promise<void> {
  if (config.backup.target === undefined) return
  const value = await list().then(
    ({ backups, packs }) => ({
      backups: backups.slice(0, LISTED_MAX).map(({ name, sizeBytes }) => ({ name, bytes: sizeBytes })),
      files_bytes: packs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      error: null,
    }),
    (error: unknown) => ({ backups: [], files_bytes: 0, error: reasonOf(error) }),
  )
  await saveCheck(db, 'backup_target', { value, at: new Date(now()) })
}

/** Restores a backup into a scratch folder and compares it; the audit log has the result. */
export async function verifyTargetBackup(
  { db, commands }: Pick<Deps, 'db' | 'commands'>,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<void> {
  const reason = await commands.run(['backup', 'verify', name], signal).then(
    () => null,
    (error: unknown) => {
      signal.throwIfAborted()
      return reasonOf(error)
    },
  )
  const details = { name, good: reason === null, ...(reason === null ? {} : { reason }) }
  await recordAudit(db, { action: 'backup.verified', actor: SYSTEM, details })
}

/** @throws the error, unless it has a message for operators */
function reasonOf(error: unknown): string {
  if (!(error instanceof OperatorError)) throw error
  return error.message.slice(0, REASON_LENGTH_MAX)
}
