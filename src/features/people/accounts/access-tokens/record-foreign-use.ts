import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Deps } from '#ports/deps.ts'

/** Maximum number of tokens whose last entry a process remembers. */
const REMEMBERED_MAX = 10_000

type ForeignUse = { tokenId: string; accountId: string; address: string }

/**
 * Returns a function that records uses of a token from an IP address that its limits exclude: at most one entry per token,
 * hour and process, so that an attacker cannot fill the audit log.
 */
export function createForeignUseLog({ db, log, now }: Pick<Deps, 'db' | 'log' | 'now'>) {
  const recordedAt = new Map<string, number>()
  return async ({ tokenId, accountId, address }: ForeignUse): Promise<void> => {
    const last = recordedAt.get(tokenId)
    if (last !== undefined && now() - last < HOUR_MS) return
    if (recordedAt.size >= REMEMBERED_MAX) recordedAt.clear()
    recordedAt.set(tokenId, now())
    const subject = { kind: 'access_token', id: tokenId } as const
    const actor = { kind: 'anonymous', address } as const
    await recordAudit(db, { action: 'token.address_refused', actor, subject, accountIds: [accountId] }).catch((error) =>
      log.warn({ err: error }, 'Could not record the use of a token from an IP address that its limits exclude'),
    )
  }
}
