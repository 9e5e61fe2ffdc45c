// A pool of buffers for joined responses: lists, and pages with personal parts. A list of 100 entities has some hundred kilobytes. Allocating new memory for each
// response took two thirds of the time, because the system provides such large blocks uninitialised.

export type ListBuffers = {
  /** Returns an uninitialised buffer of at least `bytes`; undefined if it is too small or too large for the pool. */
  take(bytes: number): Buffer | undefined
  /** Returns a buffer that is no longer in use. */
  giveBack(buffer: Buffer): void
}

const SMALLEST = 16 * 1024
const LARGEST = 4 * 1024 * 1024
/** Maximum number of unused buffers per size. */
const UNUSED_MAX = 8

export function createListBuffers(): ListBuffers {
  const unused = new Map<number, Buffer[]>()
  return {
    take(bytes) {
      if (bytes < SMALLEST || bytes > LARGEST) return undefined
      const size = 2 ** Math.ceil(Math.log2(bytes))
      return unused.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size)
    },
    giveBack(buffer) {
      const list = unused.get(buffer.length) ?? []
      if (list.length < UNUSED_MAX) list.push(buffer)
      unused.set(buffer.length, list)
    },
  }
}
