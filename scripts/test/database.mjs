// The PostgreSQL server of the tests. Its folder survives the run, so that the next run needs no initdb and no migration.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tryLockFolder } from '#platform/db/folder-lock.ts'
import { findPostgresPackage } from '#platform/embedded-postgres/binaries.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { endOrphan } from '#platform/embedded-postgres/orphan.ts'
import { prepareTestServer } from '#test/support/app/database.ts'

/** Nothing in a test database needs to survive a crash, and no table is large enough for autovacuum or a large cache. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  checkpoint_timeout: '1d',
  autovacuum: 'off',
  // Clones share their blocks with the template where the file system can do so.
  file_copy_method: 'clone',
}

/** Starts a server for this run, unless TEST_DATABASE_URL names one. */
export async function startDatabase({ folder }) {
  if (process.env.TEST_DATABASE_URL !== undefined) return { stop: async () => {} }
  const { major } = await findPostgresPackage()
  const { slot, lock } = lockSlot(join(folder, `postgres-${major}`))
  const dataDir = join(slot, 'data')
  const running = join(slot, 'running')
  if (existsSync(running)) {
    // The last run was killed. Its server can still run, and its data were never flushed to disk.
    await endOrphan(join(dataDir, 'postgres'), () => {})
    rmSync(dataDir, { recursive: true, force: true })
  }
  writeFileSync(running, '')
  const server = await startServer(dataDir)
  process.env.TEST_DATABASE_URL = server.connectionString
  await prepareTestServer()
  return {
    stop: async () => {
      await server.stop()
      rmSync(running)
      lock.release()
    },
  }
}

/** Locks the first folder that no other run uses. */
function lockSlot(prefix) {
  for (let i = 0; ; i += 1) {
    const slot = `${prefix}-${i}`
    mkdirSync(slot, { recursive: true, mode: 0o711 })
    const lock = tryLockFolder(slot)
    if (lock !== undefined) return { slot, lock }
  }
}

function startServer(dataDir) {
  const ignore = () => {}
  const print = (_fields, message) => console.error(message)
  return startEmbeddedPostgres({
    dataDir,
    holder: 'server',
    // Tests cut connections and use databases that do not exist: warnings are expected.
    log: { debug: ignore, info: ignore, warn: ignore, error: print },
    maxConnections: 200,
    settings: SETTINGS,
    systemDir: join(dataDir, 'system'),
  })
}
