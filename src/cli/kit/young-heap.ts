// Limits the memory of commands that process a whole instance.
import { setFlagsFromString } from 'node:v8'

/**
 * Keeps V8's young heap small, and collects the old heap when it has grown by 60 %. Buffers are stored outside the heap,
 * so hundreds of them would otherwise wait for a collection. The flags work only before the command's code is loaded.
 */
export const withSmallYoungHeap =
  <Loaded>(load: () => Promise<Loaded>) =>
  (): Promise<Loaded> => {
    setFlagsFromString('--semi-space-growth-factor=1')
    setFlagsFromString('--heap-growing-percent=60')
    return load()
  }
