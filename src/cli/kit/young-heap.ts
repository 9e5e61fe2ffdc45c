// How much memory a command takes that passes a whole instance through.
import { setFlagsFromString } from 'node:v8'

/**
 * `load`, before which the part of the heap for new objects is kept at the megabyte or two it begins with, in place of the
 * 16 and more it may grow to, and the rest is made to be collected when it is 60 % larger than what was in use, in place of
 * several times that. A buffer has its bytes elsewhere and takes little of the heap: in a large one, hundreds of them wait
 * long after they were written. It works only before the heap has grown, so before a command's code is loaded.
 */
export const withSmallYoungHeap =
  <Loaded>(load: () => Promise<Loaded>) =>
  (): Promise<Loaded> => {
    setFlagsFromString('--semi-space-growth-factor=1')
    setFlagsFromString('--heap-growing-percent=60')
    return load()
  }
