// Measures what requests read from the database and write to it.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Pool, PoolClient, QueryResult } from 'pg'

type Statement = { text: string; values: readonly unknown[] }
type Measured = { rows: number; statements: Statement[]; isUndone: boolean }

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
      measured.statements.push({ text: textOf(first), values: (rest[0] ?? []) as unknown[] })
      const answer = query(measured.isUndone ? withoutCommit(first) : first, ...rest)
      if (!(answer instanceof Promise)) return answer
      return answer.then((result: QueryResult | QueryResult[]) => {
        for (const { rowCount } of [result].flat()) measured.rows += rowCount ?? 0
        return result
      })
    }) as typeof client.query
  })
  return {
    /** Returns the statements that `act` sends, and the number of rows that these return or change. */
    async measure<T>(act: () => Promise<T>, { isUndone = false } = {}): Promise<Measured & { result: T }> {
      const measured: Measured = { rows: 0, statements: [], isUndone }
      const result = await current.run(measured, act)
      return { ...measured, result }
    },
  }
}

const textOf = (query: unknown): string => (typeof query === 'string' ? query : (query as { text: string }).text)

/** Rolls a transaction back in place of its commit, so that the next operation finds the same rows. */
function withoutCommit(query: unknown): unknown {
  const text = textOf(query).replace(/commit$/, 'rollback')
  return typeof query === 'string' ? text : { ...(query as object), text }
}
