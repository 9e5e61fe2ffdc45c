// From entities as they are cached to their older shapes. A shape is made once for each cached value and goes with it.
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Longer work is done in pieces, so that other requests are answered meanwhile. */
const PIECE_MS = 5
/** Forms that are there already cost less than a look at the clock. */
const VALUES_PER_LOOK = 16

/** `toForm` of each value, in their order. */
export async function listForms<V, D>(values: readonly V[], toForm: (value: V) => D): Promise<D[]> {
  const forms: D[] = []
  let startedAt = performance.now()
  for (const value of values) {
    forms.push(toForm(value))
    if (forms.length % VALUES_PER_LOOK > 0 || performance.now() - startedAt < PIECE_MS) continue
    await nextTurn()
    startedAt = performance.now()
  }
  return forms
}

/** The value of JSON bytes that this process has written. */
export function parseOwn<T>(bytes: Buffer): T {
  return JSON.parse(bytes.toString())
}
