// Measures what requests read from the database and write to it.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Pool, PoolClient, QueryResult } from 'pg'

type Measured = { rows: number; statements: number; isUndone: boolean }

/** Measures calls that use this pool. */
export function measurePool(pool: Pool) {
  const current = new AsyncLocalStorage<Measured>()
  const known = new WeakSet<PoolClient>()
  pool.on('acquire', (client) => {
    if (known.has(client)) return
    known.add(client)
    const query = client.query.bind(client) as (...parameters: unknown[]) => unknown
    client.query = ((first: unknown, ...rest: unknown[]) => {
      const measured = current.getStore()
      if (measured === undefined) return query(first, ...rest)
      measured.statements += 1
      const answer = query(measured.isUndone ? withoutCommit(first) : first, ...rest)
      if (!(answer instanceof Promise)) return answer
      return answer.then((result: QueryResult | QueryResult[]) => {
        for (const { rowCount } of [result].flat()) measured.rows += rowCount ?? 0
        return result
      })
    }) as typeof client.query
  })
  return {
    /** Returns the number of statements that `act` sends, and of the rows that these return or change. */
    async measure<T>(act: () => Promise<T>, { isUndone = false } = {}): Promise<Measured & { result: T }> {
      const measured: Measured = { rows: 0, statements: 0, isUndone }
      const result = await current.run(measured, act)
      return { ...measured, result }
    },
  }
}

/** Rolls a transaction back in place of its commit, so that the next operation finds the same rows. */
function withoutCommit(query: unknown): unknown {
  if (typeof query === 'string') return query.replace(/commit$/, 'rollback')
  const { text } = query as { text?: unknown }
  return typeof text === 'string' ? { ...(query as object), text: text.replace(/commit$/, 'rollback') } : query
}
