// Bounded concurrency: so many pieces of work at once, so many waiting, and waiting is fair between callers.
import { ApiError } from '#lib/errors.ts'

export type LimiterOptions = {
  /** Pieces of work that run at once. */
  running: number
  /** Pieces of work that may wait. */
  waiting: number
  /** Of these, how many may be one caller's; all of them by default. */
  waitingPerCaller?: number
  /** The error of what cannot wait; by default 503 with `Retry-After`. */
  refuse?: () => Error
}

export type Limiter = {
  /**
   * Runs `work` when a place is free. Callers take turns: one that asks for much waits behind their own requests and
   * delays others by at most one piece of work a place.
   * @param caller who asks, such as a client address; absent means that all such requests are one caller's.
   * @throws what `refuse` makes when the caller, or everybody together, has too much waiting.
   */
  run<T>(work: () => Promise<T>, caller?: string): Promise<T>
  /** Pieces of work that wait now. */
  readonly waiting: number
}

type Waiter = { start: () => void; refuse: () => void }

export function createLimiter(options: LimiterOptions): Limiter {
  const { running: places, waiting: waitingMax, waitingPerCaller = waitingMax, refuse = overloaded } = options
  /** Each caller's waiting work, in the order in which the callers are served next. */
  const queues = new Map<string, Waiter[]>()
  let running = 0
  let waiting = 0

  /** The first of the caller whose turn it is; that caller goes to the end. */
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

  /** When nobody else may wait, the caller with the most waiting gives up the newest, unless that is who asks. */
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
        // The place is handed on, so that nobody who comes later takes it in between.
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

/** 503 for work that cannot wait any more; it may be tried again in a second. */
export function overloaded(description = 'The service has too much of this work at the moment'): ApiError {
  return new ApiError('service_unavailable', `${description}; try again in a moment`, {
    headers: { 'retry-after': '1' },
  })
}
