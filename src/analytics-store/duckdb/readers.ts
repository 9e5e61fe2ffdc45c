// A fixed number of reading connections. Each running question holds one, and one thread of Node's pool, so the rest
// of the service keeps its threads; who comes when all are taken waits in a bounded queue.
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

export type ReaderLimits = {
  connections: number
  /** Questions that may wait for a connection; further ones fail at once. */
  waitingMax: number
  timeoutMs: number
}

export type Readers = {
  /**
   * Runs `work` on a connection of its own and interrupts its statement at the time limit or the signal. The waiting
   * counts towards the time limit.
   */
  use<T>(signal: AbortSignal | undefined, work: Work<T>): Promise<T>
  /** Interrupts what runs, and resolves when nothing does. */
  close(): Promise<void>
}

type Work<T> = (connection: DuckDBConnection) => Promise<T>
type Waiting = (connection: DuckDBConnection) => void

/** Close them before the instance. */
export async function openReaders(instance: DuckDBInstance, limits: ReaderLimits): Promise<Readers> {
  const all = await Promise.all(Array.from({ length: limits.connections }, () => instance.connect()))
  const free = [...all]
  const waiting = new Set<Waiting>()
  const running = new Set<Promise<unknown>>()
  const closing = new AbortController()

  function take(signal: AbortSignal): Promise<DuckDBConnection> {
    const connection = free.pop()
    if (connection !== undefined) return Promise.resolve(connection)
    if (waiting.size >= limits.waitingMax) throw new Error(`More than ${limits.waitingMax} questions are waiting`)
    return new Promise((resolve, reject) => {
      const stop = () => {
        waiting.delete(next)
        reject(signal.reason)
      }
      const next: Waiting = (given) => {
        signal.removeEventListener('abort', stop)
        resolve(given)
      }
      waiting.add(next)
      signal.addEventListener('abort', stop, { once: true })
    })
  }

  function give(connection: DuckDBConnection): void {
    const [next] = waiting
    if (next === undefined) {
      free.push(connection)
      return
    }
    waiting.delete(next)
    next(connection)
  }

  async function run<T>(signal: AbortSignal | undefined, work: Work<T>) {
    const limit = AbortSignal.any([
      ...(signal === undefined ? [] : [signal]),
      AbortSignal.timeout(limits.timeoutMs),
      closing.signal,
    ])
    limit.throwIfAborted()
    const connection = await take(limit)
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
      give(connection)
    }
  }

  return {
    use(signal, work) {
      const result = run(signal, work)
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
