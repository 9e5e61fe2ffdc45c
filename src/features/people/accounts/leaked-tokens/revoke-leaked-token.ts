// Revokes a token that somebody found outside Depot.
import { sql } from 'kysely'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { parseToken, type TokenKind } from '#lib/access/tokens.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { recordEvent } from '#platform/telemetry/events.ts'
import type { Deps } from '#ports/deps.ts'

/** Table of each kind, and its column with the account that receives the email. */
const TABLES: Readonly<Record<TokenKind, { table: string; accountId: string }>> = {
  pat: { table: 'personal_access_token', accountId: 'account_id' },
  oauth: { table: 'oauth_token', accountId: 'account_id' },
  session: { table: 'session', accountId: 'account_id' },
  publisher: {
    table: 'publisher_token',
    accountId: '(select created_by from trusted_publisher where trusted_publisher.id = publisher_id)',
  },
}

export type LeakDeps = Pick<Deps, 'db' | 'cache' | 'log' | 'metrics'>

/**
 * Revokes a token in every process, notifies its owner by email and writes an audit entry. Everyone who has a token can
 * revoke it. Returns false if the text is not a token that works.
 * @param url where the token was found, if the reporter stated it.
 */
export async function revokeLeakedToken(
  deps: LeakDeps,
  text: string,
  { actor, url }: { actor: Actor; url?: string },
): Promise<boolean> {
  const token = parseToken(text)
  if (token === undefined) return false
  const { table, accountId } = TABLES[token.kind]
  const isRevoked = await transaction(deps, async (tx, changed) => {
    const { rows } = await sql<{ id: string; account_id: string | null }>`
      delete from ${sql.table(table)} where token_hash = ${token.hash} returning id, ${sql.raw(accountId)} as account_id`.execute(
      tx,
    )
    const [row] = rows
    if (row === undefined) return false
    changed.add('token', token.hash.toString('hex'))
    const { id, account_id } = row
    if (account_id !== null) {
      const job = { kind: 'token-leaked', account_id, token_kind: token.kind, url: url ?? null } as const
      await enqueue(tx, 'accounts.send-mail', job)
    }
    const subject = { kind: token.kind === 'session' ? 'session' : 'access_token', id } as const
    const accountIds = account_id === null ? [] : [account_id]
    await recordAudit(tx, { action: 'token.leaked', actor, subject, accountIds, details: { token: token.kind } })
    return true
  })
  if (isRevoked) recordEvent(deps, 'token.leaked', { token_kind: token.kind })
  return isRevoked
}
