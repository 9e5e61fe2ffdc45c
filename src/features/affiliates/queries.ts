// Reads of affiliate codes.
import type { Selectable } from 'kysely'
import type { Db } from '#db/db.ts'
import type { AffiliateCode } from '#db/schema.ts'

export type AffiliateCodeRow = Selectable<AffiliateCode>

export function findAffiliateCode(db: Db, id: string): Promise<AffiliateCodeRow | undefined> {
  return db.selectFrom('affiliate_code').selectAll().where('id', '=', id).executeTakeFirst()
}

/** IDs of an account's own codes; their number is bounded when they are made. */
export async function listAffiliateCodeIdsOf(db: Db, accountId: string): Promise<string[]> {
  const rows = await db.selectFrom('affiliate_code').select('id').where('account_id', '=', accountId).execute()
  return rows.map(({ id }) => id)
}

/** Oldest first: the codes of one account, or everybody's. */
export function listAffiliateCodes(
  db: Db,
  { accountId, limit, offset }: { accountId: string | undefined; limit: number; offset: number },
): Promise<AffiliateCodeRow[]> {
  return db
    .selectFrom('affiliate_code')
    .selectAll()
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .orderBy('created')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
}
