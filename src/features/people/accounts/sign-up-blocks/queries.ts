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
  const parts = email
    .slice(email.lastIndexOf('@') + 1)
    .toLowerCase()
    .split('.')
    .slice(-128)
  const domains = parts.map((_, index) => parts.slice(index).join('.'))
  const { rows } = await sql<{ is_domain: boolean }>`select email_domain is not null as is_domain from sign_up_block
    where (email_domain = any(${domains}::text[]) or address_range >>= ${address}::inet)
      and (ends is null or ends > ${now}) order by 1 desc limit 1`.execute(db)
  const [found] = rows
  return found === undefined ? undefined : found.is_domain ? 'domain' : 'range'
}
