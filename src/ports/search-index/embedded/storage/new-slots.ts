// Maps the slots of the index to those of a copy without dead slots, and copies data in steps.
import { type Bits, hasBit } from './bits.ts'

/** Marks a slot that is not copied. */
export const DROPPED = 0xffffffff
/** Number of slots per step, which takes about 0.1 ms. */
const STEP = 10_000

export type NewSlots = { readonly docs: Uint32Array<ArrayBuffer>; readonly versions: Uint32Array<ArrayBuffer> }

/** Splits the numbers below `length` into ranges of one step each. */
export function* stretches(length: number, step = STEP): Generator<{ start: number; end: number }> {
  for (let start = 0; start < length; start += step) yield { start, end: Math.min(start + step, length) }
}

/** Assigns new numbers to the live slots. */
export function* numberLiveSlots(slots: NewSlots, live: Bits, docOfVersion: Uint32Array): Generator<void> {
  let next = 0
  for (const { start, end } of stretches(slots.docs.length)) {
    for (let doc = start; doc < end; doc += 1) {
      const isLive = hasBit(live, doc)
      slots.docs[doc] = isLive ? next : DROPPED
      if (isLive) next += 1
    }
    yield
  }
  next = 0
  for (const { start, end } of stretches(slots.versions.length)) {
    for (let version = start; version < end; version += 1) {
      const isLive = hasBit(live, docOfVersion[version] ?? 0)
      slots.versions[version] = isLive ? next : DROPPED
      if (isLive) next += 1
    }
    yield
  }
}

/** Copies the values of live slots to `to`, which is as long as `from`. Returns their number. */
export function* gather<A extends Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(
  to: A,
  from: A,
  newSlots: Uint32Array,
): Generator<void, number> {
  let count = 0
  for (const { start, end } of stretches(newSlots.length)) {
    for (let slot = start; slot < end; slot += 1) {
      if (newSlots[slot] === DROPPED) continue
      to[count] = from[slot] as number
      count += 1
    }
    yield
  }
  return count
}

/** Returns the new numbers of a list of slots, in its order, without dropped slots. */
export function* remapSlots(
  slots: Uint32Array<ArrayBuffer>,
  newSlots: Uint32Array<ArrayBuffer>,
): Generator<void, Uint32Array<ArrayBuffer>> {
  const remapped = new Uint32Array(slots.length)
  let length = 0
  for (const { start, end } of stretches(slots.length)) {
    for (let i = start; i < end; i += 1) {
      const to = newSlots[slots[i] as number] ?? DROPPED
      remapped[length] = to
      if (to !== DROPPED) length += 1
    }
    yield
  }
  return remapped.subarray(0, length)
}
