import { sql } from 'kysely'
import { hashToken, newToken } from '#lib/access/tokens.ts'
import { transaction } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import { type Client, LIFETIME_MS, toClientColumns } from './queries.ts'
import { type SessionView, toSessionView } from './views.ts'

/**
 * Gives a session a new secret and extends it to 14 days from now, up to 60 days after the sign-in. The old secret
 * becomes invalid, so that only one of several concurrent refreshes succeeds. Returns undefined if it cannot be refreshed.
 */
export function refreshSession(
  deps: Pick<Deps, 'db' | 'cache' | 'now'>,
  { secret, client }: { secret: string; client: Client },
): Promise<SessionView | undefined> {
  const now = deps.now()
  const old = hashToken(secret)
  const { token, hash } = newToken('session')
  return transaction(deps, async (tx, changed) => {
    const row = await tx
      .updateTable('session')
      .set({
        token_hash: hash,
        last_login: new Date(now),
        expires: sql<Date>`least(refresh_expires, ${new Date(now + LIFETIME_MS)})`,
        ...toClientColumns(client),
      })
      .where('token_hash', '=', old)
      .where('refresh_expires', '>', new Date(now))
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) return undefined
    changed.add('token', old.toString('hex'))
    return toSessionView(row, { secret: token, current: true })
  })
}
