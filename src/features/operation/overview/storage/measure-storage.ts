// Measures the file store, the database and the events once per day, because listing a store takes long.

import { sql } from 'kysely'
import type { Actor } from '#features/basics/audit/actor.ts'
import { recordAudit } from '#features/basics/audit/record-audit.ts'
import { IMAGE_KEYS } from '#features/basics/images/hosted-image.ts'
import { withReferences } from '#features/operation/backup/stored-keys.ts'
import { transaction } from '#platform/cache/transaction.ts'
import { withConnection } from '#platform/db/db.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import type { Deps } from '#ports/deps.ts'
import { folderBytes } from './disk.ts'
import { listLargestProjects, type StorageDetails, type StorageRow, saveMeasure } from './queries.ts'

export type MeasureDeps = Pick<Deps, 'db' | 'pool' | 'files' | 'config' | 'now'>

/** Maximum number of files without a row that are checked a second time, and of those that operators see. */
const SUSPECTS_MAX = 10_000
const ORPHANS_SHOWN = 100

/** The key of the job: one measurement waits at most. */
const JOB_KEY = 'storage.measure'

/** Measures the storage in the background. */
export async function measureStorage(deps: Pick<Deps, 'db' | 'cache'>, actor: Actor): Promise<void> {
  await transaction(deps, async (tx) => {
    await enqueue(tx, 'storage.measure', {}, { jobKey: JOB_KEY, maxAttempts: 3 })
    await recordAudit(tx, { action: 'storage.measured', actor })
  })
}

/** Measures now and stores the result as the row of this day. */
export async function recordMeasure(deps: MeasureDeps, signal: AbortSignal): Promise<void> {
  const { db, config, now } = deps
  const measured = new Date(now())
  const { orphans, ...files } = await measureFiles(deps, signal)
  const details: StorageDetails = { largest: await listLargestProjects(db), orphans }
  const { store } = config.analytics
  const row: StorageRow = {
    ...files,
    measured,
    event_bytes: store.kind === 'embedded' ? await folderBytes(store.folder) : null,
    database_bytes: await databaseBytes(deps),
  }
  await saveMeasure(db, row, details)
}

type Usage = Pick<
  StorageRow,
  'version_bytes' | 'version_files' | 'image_bytes' | 'image_files' | 'orphan_bytes' | 'orphan_files'
>

async function measureFiles(
  { pool, files }: Pick<MeasureDeps, 'pool' | 'files'>,
  signal: AbortSignal,
): Promise<Usage & Pick<StorageDetails, 'orphans'>> {
  const usage: Usage = {
    ...{ version_bytes: 0, version_files: 0, image_bytes: 0, image_files: 0 },
    ...{ orphan_bytes: 0, orphan_files: 0 },
  }
  const count = (kind: 'version' | 'image' | 'orphan', sizeBytes: number): void => {
    usage[`${kind}_bytes`] += sizeBytes
    usage[`${kind}_files`] += 1
  }
  const suspects: { key: string; sizeBytes: number }[] = []
  return withConnection(pool, 'depot-storage', async (client) => {
    for await (const [file, isReferenced] of withReferences(client, files.list())) {
      signal.throwIfAborted()
      if (isReferenced) count(file.key.startsWith(IMAGE_KEYS) ? 'image' : 'version', file.sizeBytes)
      else if (suspects.length < SUSPECTS_MAX) suspects.push(file)
      else count('orphan', file.sizeBytes)
    }
    const orphans: StorageDetails['orphans'] = []
    // A row can be added after its file was listed.
    for await (const [{ key, sizeBytes }, isReferenced] of withReferences(client, suspects)) {
      if (isReferenced) continue
      count('orphan', sizeBytes)
      if (orphans.length < ORPHANS_SHOWN) orphans.push({ key, bytes: sizeBytes })
    }
    return { ...usage, orphans }
  })
}

async function databaseBytes({ db }: Pick<Deps, 'db'>): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(db)
  return rows[0]?.bytes ?? 0
}
