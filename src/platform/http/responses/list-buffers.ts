// Memory for list answers, used again and again. A list of a hundred projects is some hundred kilobytes; taking fresh
// memory for each answer made the kernel and the collector work longer than the copying (measured: two thirds of the
// cost), because such pieces come straight from the system and are touched for the first time.

export type ListBuffers = {
  /** A buffer of at least `bytes`; not cleared. Undefined when it is too large to be kept. */
  take(bytes: number): Buffer | undefined
  /** Gives back what nobody reads any more. */
  giveBack(buffer: Buffer): void
}

const SMALLEST = 64 * 1024
const LARGEST = 4 * 1024 * 1024
/** Kept of each size; more are left to the collector. */
const KEPT_MAX = 8

export function createListBuffers(): ListBuffers {
  const kept = new Map<number, Buffer[]>()
  return {
    take(bytes) {
      if (bytes < SMALLEST || bytes > LARGEST) return undefined
      const size = 2 ** Math.ceil(Math.log2(bytes))
      return kept.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size)
    },
    giveBack(buffer) {
      const list = kept.get(buffer.length) ?? []
      if (list.length < KEPT_MAX) list.push(buffer)
      kept.set(buffer.length, list)
    },
  }
}
