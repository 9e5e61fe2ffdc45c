// The job that deletes expired consent requests, codes and tokens.
import { sql } from 'kysely'
import type { Jobs } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'

/** Maximum number of rows that a statement deletes, so that it holds its locks only briefly. */
const EXPIRE_BATCH = 5_000

export const oauthJobs = ({ db, now }: Pick<Deps, 'db' | 'now'>) => ({
  // Idempotent: a second run finds nothing.
  'oauth.expire': async (_payload: Jobs['oauth.expire'], signal: AbortSignal): Promise<void> => {
    const at = new Date(now())
    for (const name of ['oauth_flow', 'oauth_code', 'oauth_token']) {
      const table = sql.table(name)
      let deleted = EXPIRE_BATCH
      while (deleted === EXPIRE_BATCH) {
        signal.throwIfAborted()
        const result = await sql`delete from ${table} where ctid = any(array(
          select ctid from ${table} where expires <= ${at} limit ${EXPIRE_BATCH}))`.execute(db)
        deleted = Number(result.numAffectedRows ?? 0)
      }
    }
  },
})
