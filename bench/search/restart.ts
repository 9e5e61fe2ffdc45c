// Opens a snapshot in a process that has nothing else in memory, and prints what that took:
//   node bench/search/restart.ts FILE
import { openEmbeddedSearchIndex } from '#ports/search-index/embedded/embedded-search-index.ts'
import type { Restart } from './thread.ts'

const MIB = 2 ** 20

const empty = await openEmbeddedSearchIndex()
const emptyMib = (await empty.status()).memoryBytes / MIB
await empty.close()
const start = performance.now()
const index = await openEmbeddedSearchIndex({ snapshotFile: process.argv[2] ?? '' })
const restartMs = performance.now() - start
const memoryMib = (await index.status()).memoryBytes / MIB
await index.close()
console.log(JSON.stringify({ restartMs, emptyMib, memoryMib } satisfies Restart))
