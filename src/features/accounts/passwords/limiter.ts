/**
 * A function that runs at most `running` pieces of work at once and lets at most `waiting` more wait in order; beyond
 * that it rejects with what `refuse` makes, without running anything.
 */
export function createLimiter(options: { running: number; waiting: number; refuse: () => Error }) {
  let running = 0
  const queue: (() => void)[] = []
  return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running < options.running) running += 1
    else if (queue.length < options.waiting) await new Promise<void>((resolve) => queue.push(resolve))
    else throw options.refuse()
    try {
      return await work()
    } finally {
      // The place is handed on, so that nobody who comes later takes it in between.
      const next = queue.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
