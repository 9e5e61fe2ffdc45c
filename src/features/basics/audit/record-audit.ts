import type { Db } from '#platform/db/db.ts'
import type { AuditAction, SubjectKind } from './actions.ts'
import type { Actor } from './actor.ts'

export type AuditEntry = {
  action: AuditAction
  actor: Actor
  /** The resource that the action changed. */
  subject?: { kind: SubjectKind; id: string }
  /** Other accounts that the entry is about, in addition to the actor and to a subject that is an account. */
  accountIds?: readonly string[]
  /** Statuses, names of fields, amounts. Never secrets, email addresses, IP addresses or account IDs. */
  details?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>
}

/**
 * Adds an entry to the audit log. A command passes its transaction, so that the entry exists if and only if the change
 * was made. Entries without a change, such as a failed sign-in, use the database directly.
 */
export async function recordAudit(db: Db, entry: AuditEntry): Promise<void> {
  await recordAudits(db, [entry])
}

/** Adds several entries like `recordAudit`, with one statement. */
export async function recordAudits(db: Db, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return
  await db.insertInto('audit_entry').values(entries.map(toRow)).execute()
}

function toRow({ action, actor, subject, accountIds = [], details = {} }: AuditEntry) {
  const isAccount = actor.kind === 'account'
  const about = [...accountIds]
  if (isAccount) about.push(actor.id)
  if (subject?.kind === 'user') about.push(subject.id)
  return {
    action,
    actor_kind: actor.kind,
    actor_id: isAccount ? actor.id : null,
    token_kind: isAccount ? (actor.token?.kind ?? null) : null,
    token_id: isAccount ? (actor.token?.id ?? null) : null,
    address: 'address' in actor ? actor.address : null,
    subject_kind: subject?.kind ?? null,
    subject_id: subject?.id ?? null,
    account_ids: [...new Set(about)],
    details: JSON.stringify(details),
  }
}
