// Queries of affiliate codes.
import type { Selectable } from 'kysely'
import type { Viewer } from '#features/basics/access/viewer.ts'
import { notFound } from '#lib/errors.ts'
import type { Db, Page } from '#platform/db/db.ts'
import type { AffiliateCode, AffiliateConversion } from '#platform/db/schema.ts'
import { seesAllCodes } from './policy.ts'

export type AffiliateCodeRow = Selectable<AffiliateCode>
export type ConversionRow = Selectable<AffiliateConversion>

export function findAffiliateCode(db: Db, id: string): Promise<AffiliateCodeRow | undefined> {
  return db.selectFrom('affiliate_code').selectAll().where('id', '=', id).executeTakeFirst()
}

/** @throws ApiError 404 also if the viewer cannot see the code. */
export async function getVisibleCode(db: Db, viewer: Viewer, id: string): Promise<AffiliateCodeRow> {
  const code = await findAffiliateCode(db, id)
  if (code === undefined || !(code.account_id === viewer.id || seesAllCodes(viewer))) throw notFound('affiliate code')
  return code
}

/** Returns the codes of an account, oldest first; `createCode` limits their number. */
export function listCodesOf(db: Db, accountId: string): Promise<AffiliateCodeRow[]> {
  return db
    .selectFrom('affiliate_code')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created')
    .orderBy('id')
    .execute()
}

/** Returns the IDs of an account's codes. */
export async function listAffiliateCodeIdsOf(db: Db, accountId: string): Promise<string[]> {
  const rows = await db.selectFrom('affiliate_code').select('id').where('account_id', '=', accountId).execute()
  return rows.map(({ id }) => id)
}

/** Returns a page of the codes that the viewer can see, oldest first. */
export function listVisibleCodes(db: Db, viewer: Viewer, { limit, offset }: Page): Promise<AffiliateCodeRow[]> {
  return db
    .selectFrom('affiliate_code')
    .selectAll()
    .$if(!seesAllCodes(viewer), (query) => query.where('account_id', '=', viewer.id))
    .orderBy('created')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()
}

/** Returns the badges of an account; 0 if the account does not exist. */
export async function getBadges(db: Db, accountId: string): Promise<number> {
  const row = await db.selectFrom('account').select('badges').where('id', '=', accountId).executeTakeFirst()
  return row?.badges ?? 0
}
