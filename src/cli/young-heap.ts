// How much memory a command takes that passes a whole instance through.
import { setFlagsFromString } from 'node:v8'

/**
 * Keeps the part of the heap for new objects at the megabyte it begins with, in place of the 16 it may grow to, and has the
 * rest collected when it is 60 % larger than what was in use, in place of several times that. A buffer has its bytes
 * elsewhere and takes little of the heap: in a large one, hundreds of them wait long after they were written. Only before
 * the heap has grown: a command calls this before it loads its code.
 */
export function keepYoungHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=60')
}
