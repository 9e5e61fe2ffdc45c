import type { Selectable } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { Passkey } from '#platform/db/schema.ts'

export type PasskeyRow = Selectable<Passkey>

export const PASSKEYS_MAX = 20

/** Returns the passkeys of an account, oldest first. */
export function listPasskeys(db: Db, accountId: string): Promise<PasskeyRow[]> {
  return db
    .selectFrom('passkey')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created')
    .orderBy('id')
    .execute()
}

/** Returns the passkey with the ID that the authenticator chose. */
export function findPasskeyByCredential(db: Db, credentialId: Buffer): Promise<PasskeyRow | undefined> {
  return db.selectFrom('passkey').selectAll().where('credential_id', '=', credentialId).executeTakeFirst()
}
