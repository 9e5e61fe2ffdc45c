// A fixed number of reading connections. Each running question holds one, and one thread of Node's pool, so the rest
// of the service keeps its threads; questions that come when all are taken wait, fairly between callers.
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { createLimiter } from '#lib/concurrency/limiter.ts'

export type ReaderLimits = {
  connections: number
  /** Questions that may wait for a connection; further ones are refused. */
  waitingMax: number
  timeoutMs: number
}

export type Readers = {
  /**
   * Runs `work` on a connection of its own and interrupts its statement at the signal, or at the time limit, which
   * counts from its start. `caller` is who asks; absent means the service itself.
   * @throws ApiError 503 when too much waits.
   */
  use<T>(signal: AbortSignal | undefined, work: Work<T>, caller?: string): Promise<T>
  /** Interrupts what runs, and resolves when nothing does. */
  close(): Promise<void>
}

type Work<T> = (connection: DuckDBConnection) => Promise<T>

/** Close them before the instance. */
export async function openReaders(instance: DuckDBInstance, limits: ReaderLimits): Promise<Readers> {
  const all = await Promise.all(Array.from({ length: limits.connections }, () => instance.connect()))
  const free = [...all]
  const limiter = createLimiter({ running: limits.connections, waiting: limits.waitingMax })
  const running = new Set<Promise<unknown>>()
  const closing = new AbortController()

  async function run<T>(signal: AbortSignal | undefined, work: Work<T>) {
    const limit = AbortSignal.any([
      ...(signal === undefined ? [] : [signal]),
      AbortSignal.timeout(limits.timeoutMs),
      closing.signal,
    ])
    limit.throwIfAborted()
    const connection = free.pop()
    if (connection === undefined) throw new Error('unreachable: there are as many connections as places')
    const interrupt = () => connection.interrupt()
    limit.addEventListener('abort', interrupt, { once: true })
    try {
      limit.throwIfAborted()
      const result = await work(connection)
      limit.throwIfAborted()
      return result
    } catch (error) {
      // The reason of the interruption says more than "interrupted".
      limit.throwIfAborted()
      throw error
    } finally {
      limit.removeEventListener('abort', interrupt)
      free.push(connection)
    }
  }

  return {
    use(signal, work, caller) {
      const result = limiter.run(() => run(signal, work), caller)
      running.add(result)
      const done = () => running.delete(result)
      result.then(done, done)
      return result
    },
    async close() {
      closing.abort(new Error('The analytics store is closing'))
      await Promise.allSettled(running)
      for (const connection of all) connection.closeSync()
    },
  }
}
