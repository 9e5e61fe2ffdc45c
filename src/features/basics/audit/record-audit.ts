import type { Db } from '#platform/db/db.ts'
import type { AuditAction, SubjectKind } from './actions.ts'
import type { Actor } from './actor.ts'

export type AuditEntry = {
  action: AuditAction
  actor: Actor
  /** The thing that the action is about. */
  subject?: { kind: SubjectKind; id: string }
  /** Further accounts that the entry is about; the actor and a subject that is an account are added. */
  accountIds?: readonly string[]
  /** What happened in more detail: statuses, names of fields, amounts. Never secrets, addresses or IDs of accounts. */
  details?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>
}

/**
 * Adds an entry to the audit log. A command passes its transaction, so that there is an entry if and only if the change
 * was made; what changes nothing, such as a refused sign-in, passes the database.
 */
export async function recordAudit(
  db: Db,
  { action, actor, subject, accountIds = [], details = {} }: AuditEntry,
): Promise<void> {
  const isAccount = actor.kind === 'account'
  const about = [...accountIds]
  if (isAccount) about.push(actor.id)
  if (subject?.kind === 'user') about.push(subject.id)
  await db
    .insertInto('audit_entry')
    .values({
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
    })
    .execute()
}
