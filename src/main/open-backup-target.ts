// Opens the place of scheduled backups.
import { createTarget, type Target } from '#features/operation/backup/scheduled/target.ts'
import { OperatorError } from '#lib/operator-error.ts'
import type { Config } from '#platform/config/config.ts'
import type { Telemetry } from '#platform/telemetry/events.ts'
import { openFiles } from './open-ports.ts'

/** One request stores an object in S3, and the size of a request is limited. */
const OBJECT_BYTES_MAX = 5 * 1024 ** 3

/** Runs `act` with the target of BACKUP_TARGET. @throws OperatorError if the setting is missing or the target cannot be used. */
export async function withBackupTarget<T>(
  { config, ...telemetry }: Telemetry & { config: Config },
  act: (target: Target) => Promise<T>,
): Promise<T> {
  const { target } = config.backup
  if (target === undefined) {
    throw new OperatorError(
      'BACKUP_TARGET is not set. Set it to a folder or a bucket, for example BACKUP_TARGET=/var/backups/depot, or name a file.',
    )
  }
  const { address, store } = target
  const maxBytes = store.kind === 's3' ? OBJECT_BYTES_MAX : Number.MAX_SAFE_INTEGER
  const files = await openFiles(store, telemetry).catch((error: Error) => {
    // The cause of an error of a store has the reason.
    const cause = error instanceof OperatorError ? error : (error.cause ?? error)
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new OperatorError(`Cannot use BACKUP_TARGET ${address}: ${reason}`, { cause })
  })
  try {
    return await act(createTarget(files, { address, maxBytes }))
  } finally {
    await files.close()
  }
}
