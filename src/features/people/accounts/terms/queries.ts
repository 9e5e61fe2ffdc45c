// SQL for the consent to the Terms.
import { sql } from 'kysely'
import { PLACEHOLDER_ID } from '#features/basics/access/placeholder.ts'
import { suspendedAt } from '#features/people/users/queries.ts'
import type { Db, Tx } from '#platform/db/db.ts'

export type Consent = { version: number; agreed: Date }

/** Consenting twice, also concurrently, keeps the first time. */
export async function insertConsent(
  tx: Tx,
  { accountId: account_id, version, now }: { accountId: string; version: number; now: number },
): Promise<void> {
  await tx
    .insertInto('terms_consent')
    .values({ account_id, version, agreed: new Date(now) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const CONSENTS_MAX = 200

/** Returns the versions of the Terms that an account agreed to, newest first. */
export function listConsents(db: Db, accountId: string): Promise<Consent[]> {
  return db
    .selectFrom('terms_consent')
    .select(['version', 'agreed'])
    .where('account_id', '=', accountId)
    .orderBy('version', 'desc')
    .limit(CONSENTS_MAX)
    .execute()
}

/**
 * Counts the active accounts, and those that agreed to a version of the Terms or to a newer one. An account is active unless it is
 * suspended, belongs to a program, or will be deleted.
 */
export async function countConsents(
  db: Db,
  { version, now }: { version: number; now: number },
): Promise<{ agreed: number; active: number }> {
  const { rows } = await sql<{ agreed: number; active: number }>`
    select count(*)::int as active, (count(*) filter (where exists (
      select from terms_consent where account_id = account.id and version >= ${version})))::int as agreed
    from account where service_of is null and deletion_due is null and id <> ${PLACEHOLDER_ID}
      and not ${suspendedAt(new Date(now))}`.execute(db)
  return rows[0] ?? { agreed: 0, active: 0 }
}
