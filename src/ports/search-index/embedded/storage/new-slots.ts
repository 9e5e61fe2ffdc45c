// Maps the slots of the index to those of a copy without dead slots, and copies data in steps.
import { type Bits, hasBit } from './bits.ts'

/** Marks a slot that is not copied. */
export const DROPPED = 0xffffffff
/** Number of slots per step, which takes about 0.1 ms. */
const STEP = 10_000

export type NewSlots = { readonly docs: Uint32Array<ArrayBuffer>; readonly versions: Uint32Array<ArrayBuffer> }

/** Calls `visit` for the numbers below `length`. Yields between steps. */
export function* inSteps(length: number, visit: (i: number) => unknown): Generator<void> {
  for (let start = 0; start < length; start += STEP) {
    const end = Math.min(start + STEP, length)
    for (let i = start; i < end; i += 1) visit(i)
    yield
  }
}

/** Assigns new numbers to the live slots. */
export function* numberLiveSlots(slots: NewSlots, live: Bits, docOfVersion: Uint32Array): Generator<void> {
  let next = 0
  const assign = (target: Uint32Array, slot: number, doc: number) => {
    target[slot] = hasBit(live, doc) ? next++ : DROPPED
  }
  yield* inSteps(slots.docs.length, (doc) => assign(slots.docs, doc, doc))
  next = 0
  yield* inSteps(slots.versions.length, (version) => assign(slots.versions, version, docOfVersion[version] ?? 0))
}

/** Copies the values of live slots to `to`, which is as long as `from`. Returns their number. */
export function* gather<A extends Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(
  to: A,
  from: A,
  newSlots: Uint32Array,
): Generator<void, number> {
  let count = 0
  yield* inSteps(newSlots.length, (slot) => {
    if (newSlots[slot] !== DROPPED) to[count++] = from[slot] as number
  })
  return count
}

/** Returns the new numbers of a list of slots, in its order, without dropped slots. */
export function* remapSlots(
  slots: Uint32Array<ArrayBuffer>,
  newSlots: Uint32Array<ArrayBuffer>,
): Generator<void, Uint32Array<ArrayBuffer>> {
  const remapped = new Uint32Array(slots.length)
  let length = 0
  yield* inSteps(slots.length, (i) => {
    const to = newSlots[slots[i] as number] ?? DROPPED
    if (to !== DROPPED) remapped[length++] = to
  })
  return remapped.subarray(0, length)
}
