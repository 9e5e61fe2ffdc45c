// A quiet copy of an instance: until `depot resume`, it runs no jobs and sends no emails and webhooks. Its jobs wait.
import type { Db } from '#platform/db/db.ts'

/** A sentence for operators. */
export const QUIET =
  'This copy of the instance is quiet: jobs, schedules, emails and webhooks wait until you run `depot resume`'

/** Returns when the copy was made quiet, or null if it is not. */
export async function quietSince(db: Db): Promise<Date | null> {
  const row = await db.selectFrom('instance_copy').select('quiet_since').executeTakeFirst()
  return row?.quiet_since ?? null
}
