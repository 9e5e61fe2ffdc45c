// A pool of reading connections. A running query uses one connection and one thread of Node's pool; the limit leaves threads
// for the rest of the service. Further queries wait in turn between callers.
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { createLimiter } from '#lib/concurrency/limiter.ts'

/** Two of the four threads of Node's pool, so that files and passwords can use the others. */
const CONNECTIONS = 2
/** Maximum number of queries that wait for a connection. */
const WAITING_MAX = 128
const TIMEOUT_MS = 20_000

type Work<T> = (connection: DuckDBConnection) => Promise<T>

/** The readers must be closed before the instance. */
export async function openReaders(instance: DuckDBInstance) {
  const all = await Promise.all(Array.from({ length: CONNECTIONS }, () => instance.connect()))
  const free = [...all]
  const limiter = createLimiter({ running: CONNECTIONS, waiting: WAITING_MAX })
  const running = new Set<Promise<unknown>>()
  const closing = new AbortController()

  async function run<T>(signal: AbortSignal | undefined, work: Work<T>) {
    const limit = AbortSignal.any([
      ...(signal === undefined ? [] : [signal]),
      AbortSignal.timeout(TIMEOUT_MS),
      closing.signal,
    ])
    limit.throwIfAborted()
    const connection = free.pop()
    if (connection === undefined) throw new Error('No connection is free, although the limiter admitted the query')
    const interrupt = () => connection.interrupt()
    limit.addEventListener('abort', interrupt, { once: true })
    try {
      limit.throwIfAborted()
      const result = await work(connection)
      limit.throwIfAborted()
      return result
    } catch (error) {
      // Throws the reason of the interruption instead of "interrupted".
      limit.throwIfAborted()
      throw error
    } finally {
      limit.removeEventListener('abort', interrupt)
      free.push(connection)
    }
  }

  return {
    /**
     * Runs `work` on a separate connection. The signal or the time limit, which begins with `work`, interrupts its statement.
     * `caller` identifies the client; without it, the caller is the service.
     * @throws ApiError 503 if too many queries wait.
     */
    use<T>(signal: AbortSignal | undefined, work: Work<T>, caller?: string): Promise<T> {
      const result = limiter.run(() => run(signal, work), caller)
      running.add(result)
      const done = () => running.delete(result)
      result.then(done, done)
      return result
    },
    /** Interrupts running queries and resolves when they have ended. */
    async close(): Promise<void> {
      closing.abort(new Error('The analytics store is closing'))
      await Promise.allSettled(running)
      for (const connection of all) connection.closeSync()
    },
  }
}
