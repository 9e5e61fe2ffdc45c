// Ends a sign-in with a session or a failure, and records it in the audit log.

import { ownerAt } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import type { ChangeSet } from '#platform/cache/changes.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { type Client, issueSession } from '../sessions/queries.ts'
import type { SessionView } from '../sessions/views.ts'

/** Creates a session and records the sign-in. */
export async function openSession(
  tx: Tx,
  changed: ChangeSet,
  { accountId, client, now }: { accountId: string; client: Client; now: number },
): Promise<SessionView> {
  const session = await issueSession(tx, changed, { accountId, client, now })
  const actor = ownerAt(accountId, client)
  await recordAudit(tx, { action: 'account.signed_in', actor, subject: { kind: 'session', id: session.id } })
  return session
}

/** Records a failed sign-in of an existing account. Unknown names are not stored, because users also type passwords there. */
export async function recordRefusal(
  db: Db,
  { accountId, client, because }: { accountId: string; client: Client; because: 'password' | 'code' },
): Promise<void> {
  await recordAudit(db, {
    action: 'account.sign_in_refused',
    actor: { kind: 'anonymous', address: client.ip },
    subject: { kind: 'user', id: accountId },
    details: { because },
  })
}
