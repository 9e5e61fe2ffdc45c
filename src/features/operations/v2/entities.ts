// Helpers for the v2 views of cached entities.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'

/** Maximum time before other requests get a turn. */
const PIECE_MS = 5
/** Number of values between clock readings, because a cached form costs less than reading the clock. */
const VALUES_PER_CHECK = 16

/** Returns `toForm` of each value, and yields to the event loop in between. */
export async function listForms<V, D>(values: readonly V[], toForm: (value: V) => D): Promise<D[]> {
  const forms: D[] = []
  let startedAt = performance.now()
  for (const value of values) {
    forms.push(toForm(value))
    if (forms.length % VALUES_PER_CHECK > 0 || performance.now() - startedAt < PIECE_MS) continue
    await yieldToEventLoop()
    startedAt = performance.now()
  }
  return forms
}

/** Parses JSON that Depot has written. */
export function parseOwn<T>(bytes: Buffer): T {
  return JSON.parse(bytes.toString())
}
