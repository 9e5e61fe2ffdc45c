// Builds the index once, in a process that does nothing else, and prints what that took:
//   node bench/search/build-once.ts DATA_DIR one|two
// `one`: one thread reads, prepares and inserts. `two`: as the server builds its first index.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Db } from '#platform/db/db.ts'
import { silentLog } from '#platform/telemetry/log.ts'
import { openEmbeddedSearchIndex } from '#ports/search-index/embedded/embedded-search-index.ts'
import { Engine } from '#ports/search-index/embedded/engine.ts'
import { prepareChange } from '#ports/search-index/embedded/prepare.ts'
import { listCatalogue } from '#ports/search-index/feed/follow-changes.ts'
import { acquireIndexFolder } from '#ports/search-index/feed/index-folder.ts'
import { createSearchFeed } from '#ports/search-index/feed/search-feed.ts'
import { loadTaxonomy } from '#taxonomy/taxonomy.ts'
import type { BuildFigures } from './build.ts'
import { withDatabase } from './http.ts'

const [dataDir = '', mode] = process.argv.slice(2)
const folder = await mkdtemp(join(tmpdir(), 'bench-build-'))
await withDatabase(dataDir, 'command', async (db) => {
  const startedAt = performance.now()
  const before = { all: process.cpuUsage(), main: process.threadCpuUsage() }
  const close = mode === 'one' ? await buildInOneThread(db) : await buildAsServer(db)
  const seconds = (performance.now() - startedAt) / 1000
  const all = sum(process.cpuUsage(before.all))
  const main = sum(process.threadCpuUsage(before.main))
  console.log(JSON.stringify({ seconds, main, others: all - main } satisfies BuildFigures))
  await close()
})
await rm(folder, { recursive: true })

async function buildInOneThread(db: Db): Promise<() => Promise<void>> {
  const engine = new Engine()
  const source = { db, taxonomy: loadTaxonomy().taxonomy, log: silentLog() }
  for await (const documents of listCatalogue(source, () => false)) {
    engine.add(documents.map((document) => prepareChange({ kind: 'upsert', sequence: 1, document })))
  }
  engine.finish()
  return async () => console.error(`${engine.size} projects`)
}

async function buildAsServer(db: Db): Promise<() => Promise<void>> {
  const feed = createSearchFeed({
    db,
    taxonomy: loadTaxonomy().taxonomy,
    log: silentLog(),
    leases: {
      async acquire() {
        const lease = await acquireIndexFolder(folder)
        if (lease === undefined) throw new Error('The folder of the index is in use')
        return lease
      },
    },
    openIndex: openEmbeddedSearchIndex,
  })
  await feed.caughtUp()
  return feed.close
}

function sum({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6
}
