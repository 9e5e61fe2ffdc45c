// The PostgreSQL server of the tests. A prepared cluster with the migrated template stays in the cache; each run uses a copy.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DAY_MS } from '#lib/time.ts'
import { tryLockFolder } from '#platform/db/folder-lock.ts'
import { findPostgresPackage } from '#platform/embedded-postgres/binaries.ts'
import { startEmbeddedPostgres } from '#platform/embedded-postgres/embedded-postgres.ts'
import { endOrphan } from '#platform/embedded-postgres/orphan.ts'
import { prepareTemplate, templateName } from '#test/support/app/database.ts'

/** Nothing in a test database needs to survive a crash, and no table is large enough for autovacuum. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  checkpoint_timeout: '1d',
  autovacuum: 'off',
}
const MEMORY = '/dev/shm'
const MEMORY_BYTES_MIN = 1024 * 1024 * 1024

/** Starts a server for this run and sets TEST_DATABASE_URL, unless it is set already. */
export async function startDatabase({ folder }) {
  if (process.env.TEST_DATABASE_URL !== undefined) return { stop: async () => {} }
  const prepared = await prepareCluster(folder)
  const { slot, lock } = lockSlot(folder)
  const dataDir = join(slot, 'data')
  // The copy of a run that was killed, with its server.
  await endOrphan(join(dataDir, 'postgres'), () => {})
  rmSync(dataDir, { recursive: true, force: true })
  // Unlike cpSync, this keeps the owner, which is PostgreSQL's user if root runs the tests.
  execFileSync('cp', ['-Rp', prepared, dataDir])
  const server = await startServer(dataDir, folder)
  process.env.TEST_DATABASE_URL = server.connectionString
  return {
    stop: async () => {
      await server.stop()
      rmSync(dataDir, { recursive: true })
      lock.release()
    },
  }
}

/** Returns the folder of a stopped cluster with the template of the current migrations, and creates it if it is missing. */
async function prepareCluster(folder) {
  const { major } = await findPostgresPackage()
  const prepared = join(folder, `postgres-${major}-${templateName()}`)
  if (existsSync(prepared)) return prepared
  const unfinished = join(folder, `unfinished-${process.pid}`)
  const server = await startServer(unfinished, folder)
  await prepareTemplate(server.connectionString)
  await server.stop()
  // Another run can be faster.
  if (existsSync(prepared)) rmSync(unfinished, { recursive: true })
  else renameSync(unfinished, prepared)
  removeOld(prepared)
  return prepared
}

/** Removes clusters of other migrations and of killed runs that no run can be using any more. */
function removeOld(prepared) {
  const folder = dirname(prepared)
  for (const name of readdirSync(folder).filter((name) => /^(postgres|unfinished)-/.test(name))) {
    const isOld = Date.now() - statSync(join(folder, name)).mtimeMs > DAY_MS
    if (name !== basename(prepared) && isOld) rmSync(join(folder, name), { recursive: true })
  }
}

/** Locks the first folder that no other run uses. */
function lockSlot(folder) {
  for (let i = 0; ; i += 1) {
    const slot = join(hasMemory() ? MEMORY : folder, `depot-tests-${process.getuid?.()}-${i}`)
    mkdirSync(slot, { recursive: true, mode: 0o711 })
    const lock = tryLockFolder(slot)
    if (lock !== undefined) return { slot, lock }
  }
}

/**
 * Returns whether there is a file system in memory with enough space. Creating and dropping hundreds of databases takes
 * much processor time on ext4, which skips inodes that were deleted in the last minutes one by one.
 */
function hasMemory() {
  if (process.platform !== 'linux' || !existsSync(MEMORY)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= MEMORY_BYTES_MIN
}

function startServer(dataDir, folder) {
  const ignore = () => {}
  const print = (_fields, message) => console.error(message)
  return startEmbeddedPostgres({
    dataDir,
    holder: 'server',
    // Tests cut connections and use databases that do not exist: warnings are expected.
    log: { debug: ignore, info: ignore, warn: ignore, error: print },
    maxConnections: 200,
    settings: SETTINGS,
    systemDir: join(folder, 'system'),
  })
}
