// Reads and statements about invitations. Only the hash of a code is stored.
import { type Selectable, sql } from 'kysely'
import { hashToken } from '#lib/access/tokens.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Invitation } from '#platform/db/schema.ts'

/** The newest first; those that are past their time too, until a job removes them. */
export function listInvitations(
  db: Db,
  { limit, offset }: { limit: number; offset: number },
): Promise<Selectable<Invitation>[]> {
  return db
    .selectFrom('invitation')
    .selectAll()
    .orderBy('created', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
}

type Attempt = { code: string; email: string; now: Date }

/** Whether an account with this address may be made with the code now. */
export async function isUsable(db: Db, { code, email, now }: Attempt): Promise<boolean> {
  const { rows } = await sql`select 1 from invitation where code_hash = ${hashToken(code)} and expires > ${now}
    and uses < uses_max and (email is null or lower(email) = lower(${email}))`.execute(db)
  return rows.length > 0
}

/** Takes one use; undefined when there is none left. Of two who want the last one, the row gives it to one. */
export async function takeUse(tx: Tx, { code, email, now }: Attempt): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`update invitation set uses = uses + 1
    where code_hash = ${hashToken(code)} and expires > ${now} and uses < uses_max
      and (email is null or lower(email) = lower(${email})) returning id`.execute(tx)
  return rows[0]?.id
}
