// Commands that others have replaced.

import type { Command } from '#cli/kit/command.ts'
import { withSmallYoungHeap } from '#cli/kit/young-heap.ts'
import { JSON_OPTION } from './commands.ts'

/** Former names, which remain until version 2 and are not listed. `depot doctor` replaces them. */
export const FORMER: readonly Command[] = [
  {
    name: 'check',
    usage: '[--json]',
    about: 'Check the services; use `depot doctor` instead',
    options: [JSON_OPTION],
    load: async () => (await import('#cli/server/operations.ts')).checkCommand,
  },
  {
    name: 'verify',
    usage: '[--quick] [--json]',
    about: 'Check rows, files and events; use `depot doctor --full` instead',
    options: [['--quick', 'Compare only the sizes of files, not their hashes'], JSON_OPTION],
    load: withSmallYoungHeap(async () => (await import('#cli/backup/verify.ts')).verifyCommand),
  },
]
