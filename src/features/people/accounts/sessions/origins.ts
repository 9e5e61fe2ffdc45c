// The origin of an account: the shortened address and the program of its sign-up and its last sign-in, for 90 days.
import { sql } from 'kysely'
import { networkOf } from '#lib/address-key.ts'
import { DAY_MS } from '#lib/time.ts'
import type { Tx } from '#platform/db/db.ts'
import { USER_AGENT_LENGTH_MAX } from './user-agent.ts'

/** Time after which a job deletes an origin. */
export const ORIGIN_MS = 90 * DAY_MS

/** Records the origin of a sign-up or sign-in, in place of the previous one. */
export async function recordOrigin(
  tx: Tx,
  {
    accountId,
    event,
    client,
    now,
  }: { accountId: string; event: 'sign_up' | 'sign_in'; client: { ip: string; userAgent: string }; now: number },
): Promise<void> {
  const userAgent = client.userAgent.slice(0, USER_AGENT_LENGTH_MAX)
  await sql`insert into account_origin (account_id, event, at, address_range, user_agent)
    values (${accountId}, ${event}, ${new Date(now)}, ${networkOf(client.ip)}::cidr, ${userAgent})
    on conflict (account_id, event) do update
      set at = excluded.at, address_range = excluded.address_range, user_agent = excluded.user_agent`.execute(tx)
}
