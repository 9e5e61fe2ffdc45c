// Queries of invitations. Only the hash of a code is stored.
import { type Selectable, sql } from 'kysely'
import { hashToken } from '#lib/access/tokens.ts'
import { notFound } from '#lib/errors.ts'
import type { Db, Page, Tx } from '#platform/db/db.ts'
import type { Invitation } from '#platform/db/schema.ts'

/** Returns invitations, newest first, including expired ones that the job has not deleted yet. */
export function listInvitations(db: Db, { limit, offset }: Page): Promise<Selectable<Invitation>[]> {
  return db
    .selectFrom('invitation')
    .selectAll()
    .orderBy('created', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
}

/** @throws ApiError 404. */
export async function getInvitation(db: Db, id: string): Promise<Selectable<Invitation>> {
  const row = await db.selectFrom('invitation').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound('invitation')
  return row
}

type InvitationUse = { code: string; email: string; now: Date }

const usable = ({ code, email, now }: InvitationUse) => sql`code_hash = ${hashToken(code)} and expires > ${now}
  and uses < uses_max and (email is null or lower(email) = lower(${email}))`

/** Returns whether an account with this email address can be created with the code. */
export async function isUsable(db: Db, use: InvitationUse): Promise<boolean> {
  const { rows } = await sql`select 1 from invitation where ${usable(use)}`.execute(db)
  return rows.length > 0
}

/** Counts a use of the code; returns the ID of the invitation, or undefined if no use is left. */
export async function useInvitation(tx: Tx, use: InvitationUse): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`update invitation set uses = uses + 1
    where ${usable(use)} returning id`.execute(tx)
  return rows[0]?.id
}
