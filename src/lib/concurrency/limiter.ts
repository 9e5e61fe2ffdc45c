// Limits the number of running and waiting tasks. Callers with waiting tasks take turns.
import { ApiError } from '#lib/errors.ts'

export type LimiterOptions = {
  /** Maximum number of running tasks. */
  running: number
  /** Maximum number of waiting tasks. */
  waiting: number
  /** Maximum number of waiting tasks per caller. Default: `waiting`. */
  waitingPerCaller?: number
  /** Creates the error of a rejected task. Default: 503 with `Retry-After`. */
  refuse?: () => Error
}

export type Limiter = {
  /**
   * Runs `work` when the number of running tasks permits it. Because callers take turns, a caller with many tasks delays
   * another caller by at most `running` tasks.
   * @param caller such as an IP address. Tasks without a caller count as those of a single caller.
   * @throws the error of `refuse` if the caller, or all callers together, have too many waiting tasks.
   */
  run<T>(work: () => Promise<T>, caller?: string): Promise<T>
  /** Current number of waiting tasks. */
  readonly waiting: number
}

type Waiter = { start: () => void; refuse: () => void }

export function createLimiter(options: LimiterOptions): Limiter {
  const { running: places, waiting: waitingMax, waitingPerCaller = waitingMax, refuse = overloaded } = options
  /** The waiting tasks of each caller. The next caller is first. */
  const queues = new Map<string, Waiter[]>()
  let running = 0
  let waiting = 0

  /** Removes and returns the first task of the next caller, and moves the caller to the end. */
  function takeNext(): Waiter | undefined {
    for (const [caller, queue] of queues) {
      queues.delete(caller)
      const next = queue.shift()
      if (queue.length > 0) queues.set(caller, queue)
      if (next !== undefined) {
        waiting -= 1
        return next
      }
    }
    return undefined
  }

  /** Rejects the newest task of the caller with the most waiting tasks, unless the new task would give its caller as many. */
  function makeRoom(own: number): boolean {
    let longest: Waiter[] = []
    for (const queue of queues.values()) if (queue.length > longest.length) longest = queue
    if (longest.length <= own + 1) return false
    longest.pop()?.refuse()
    waiting -= 1
    return true
  }

  function wait(caller: string): Promise<void> {
    const queue = queues.get(caller) ?? []
    if (queue.length >= waitingPerCaller) throw refuse()
    if (waiting >= waitingMax && !makeRoom(queue.length)) throw refuse()
    return new Promise<void>((resolve, reject) => {
      queue.push({ start: resolve, refuse: () => reject(refuse()) })
      queues.set(caller, queue)
      waiting += 1
    })
  }

  return {
    async run(work, caller = '') {
      if (running < places) running += 1
      else await wait(caller)
      try {
        return await work()
      } finally {
        // `running` stays the same when a waiting task starts, so that no later task can start before it.
        const next = takeNext()
        if (next === undefined) running -= 1
        else next.start()
      }
    },
    get waiting() {
      return waiting
    },
  }
}

/** 503 for a task that cannot wait. The client can try again after a second. */
export function overloaded(description = 'The service is overloaded'): ApiError {
  return new ApiError('service_unavailable', `${description}; try again in a moment`, {
    headers: { 'retry-after': '1' },
  })
}
