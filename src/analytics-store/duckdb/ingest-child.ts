// What store.test.ts kills: stores batches of 100 downloads without end and prints the number acknowledged so far.

import { aDownload, times } from '../test-events.ts'
import { openDuckDbStore } from './store.ts'

const store = await openDuckDbStore({ dir: process.argv[2] ?? '' })
const before = await store.lastSequence()
for (let batch = before; ; batch += 1) {
  // Versions of its own each time, so that new terms are under way too.
  await store.append(
    'download',
    times(100, (i) => aDownload({ version_id: `v${batch}x${i}` })),
  )
  process.stdout.write(`${(batch + 1) * 100}\n`)
}
