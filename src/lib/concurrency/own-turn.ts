// Lets requests with much work take turns, so that the event loop handles other requests in between.

/** From this number of items on, a request takes turns. */
const MANY = 250

const waiting: (() => void)[] = []

/** Resolves in an iteration of the event loop in which no other caller gets a turn. Undefined for few items. */
export function ownTurn(items = MANY): Promise<void> | undefined {
  if (items < MANY) return undefined
  const { promise, resolve } = Promise.withResolvers<void>()
  if (waiting.push(resolve) === 1) setImmediate(next)
  return promise
}

function next(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(next)
}
