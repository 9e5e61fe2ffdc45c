// Reads which notifications a user receives by email.
import type { Db } from '#platform/db/db.ts'
import { EMAIL_KINDS, type EmailSettings, isEmailed } from './email-kinds.ts'

export async function readEmailSettings(db: Db, accountId: string): Promise<EmailSettings> {
  const rows = await db
    .selectFrom('email_setting')
    .select(['kind', 'is_emailed'])
    .where('account_id', '=', accountId)
    .execute()
  const stored = new Map(rows.map(({ kind, is_emailed }) => [kind, is_emailed]))
  return Object.fromEntries(EMAIL_KINDS.map((kind) => [kind, isEmailed(kind, stored.get(kind))])) as EmailSettings
}
