// The process that store.test.ts kills: stores batches of 100 downloads in a loop and prints the number acknowledged so
// far.

import { openDuckDbStore } from '#ports/analytics-store/duckdb/store.ts'
import { aDownload, batchOf, times } from '../factories/analytics-events.ts'

const store = await openDuckDbStore({ dir: process.argv[2] ?? '' })
const { projects } = await store.countDownloads({})
for (let stored = projects[0]?.downloads ?? 0; ; stored += 100) {
  // Uses new version IDs each time, so that the store also writes new terms.
  await store.append('download', batchOf(times(100, (i) => aDownload({ version_id: `v${stored}x${i}` }))))
  process.stdout.write(`${stored + 100}\n`)
}
