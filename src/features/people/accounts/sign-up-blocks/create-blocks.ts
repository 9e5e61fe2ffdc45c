import { sql } from 'kysely'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { ApiError } from '#lib/errors.ts'
import { newId } from '#lib/ids.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { countRows } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { BLOCKS_MAX, type NewBlocks } from './requests.ts'

/**
 * Blocks sign-ups from domains and ranges. A domain or range that is blocked already gets the new note and end. Returns the
 * number of blocks.
 * @throws ApiError `limit_reached`
 */
export async function createBlocks(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  actor: Actor,
  { emailDomains, addressRanges, note, ends }: NewBlocks,
): Promise<number> {
  const created = new Date(deps.now())
  return transaction(deps, async (tx) => {
    const targets = [
      ...[...new Set(emailDomains)].map((domain) => ({ id: newId(), domain, range: null })),
      ...[...new Set(addressRanges)].map((range) => ({ id: newId(), domain: null, range })),
    ]
    const rows = sql`select * from jsonb_to_recordset(${JSON.stringify(targets)}::jsonb)
      as target (id text, domain text, range text)`
    // Replaces first: a list can contain the same network in two forms, such as 192.0.2.1/24 and 192.0.2.0/24.
    await sql`delete from sign_up_block where email_domain in (select domain from (${rows}) target)
      or address_range in (select network(range::inet)::cidr from (${rows}) target)`.execute(tx)
    await sql`insert into sign_up_block (id, email_domain, address_range, note, created, ends)
      select id, domain, network(range::inet)::cidr, ${note}, ${created}, ${ends} from (${rows}) target
      on conflict do nothing`.execute(tx)
    const total = await countRows(tx.selectFrom('sign_up_block'))
    if (total > BLOCKS_MAX) throw new ApiError('limit_reached', `An instance can have at most ${BLOCKS_MAX} blocks`)
    const details = { email_domains: emailDomains.length, address_ranges: addressRanges.length, note }
    await recordAudit(tx, { action: 'sign_up_block.added', actor, details })
    return targets.length
  })
}
