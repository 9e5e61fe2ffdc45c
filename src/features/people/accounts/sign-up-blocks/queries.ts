// Blocks of sign-ups: email domains and ranges of IP addresses.
import { type Selectable, sql } from 'kysely'
import { countRows, type Db, type Page } from '#platform/db/db.ts'
import type { SignUpBlock } from '#platform/db/schema.ts'

export type BlockRow = Selectable<SignUpBlock>

/** Returns the blocks that have not ended, newest first, and their number. */
export async function listBlocks(
  db: Db,
  now: Date,
  { limit, offset }: Page,
): Promise<{ blocks: BlockRow[]; total: number }> {
  const current = db.selectFrom('sign_up_block').where((eb) => eb.or([eb('ends', 'is', null), eb('ends', '>', now)]))
  const rows = await current.selectAll().orderBy('created', 'desc').orderBy('id').limit(limit).offset(offset).execute()
  return { blocks: rows, total: await countRows(current) }
}

/** Returns what blocks a sign-up: the domain of the email address, with its parent domains, or the address. */
export async function findBlock(
  db: Db,
  { email, address, now }: { email: string; address: string; now: Date },
): Promise<'domain' | 'range' | undefined> {
  const { rows } = await sql<{ is_domain: boolean }>`select email_domain is not null as is_domain from sign_up_block
    where (email_domain = any(${domainsOf(email)}::text[]) or address_range >>= ${address}::inet)
      and (ends is null or ends > ${now}) order by 1 desc limit 1`.execute(db)
  const [found] = rows
  return found === undefined ? undefined : found.is_domain ? 'domain' : 'range'
}

/** Returns whether the domain of an email address, or one of its parent domains, is blocked. */
export async function isDomainBlocked(db: Db, { email, now }: { email: string; now: Date }): Promise<boolean> {
  const { rows } = await sql`select from sign_up_block
    where email_domain = any(${domainsOf(email)}::text[]) and (ends is null or ends > ${now}) limit 1`.execute(db)
  return rows.length > 0
}

/** Returns the domain of an email address and its parent domains. */
function domainsOf(email: string): string[] {
  const parts = email
    .slice(email.lastIndexOf('@') + 1)
    .toLowerCase()
    .split('.')
    .slice(-128)
  return parts.map((_, index) => parts.slice(index).join('.'))
}
