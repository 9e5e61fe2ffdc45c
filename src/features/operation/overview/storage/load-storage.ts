// The usage of the storage, as last measured.
import { countJobs } from '#platform/jobs/queue-state.ts'
import type { Deps } from '#ports/deps.ts'
import { diskSpace } from './disk.ts'
import { bytesOnDisk, growthOf } from './growth.ts'
import { listMeasures, listNames, type MeasuredDay } from './queries.ts'
import type { StorageView } from './views.ts'

/** Returns the last measurement, the largest projects, the growth and the measurements of the last 90 days. */
export async function loadStorage({ db, config }: Pick<Deps, 'db' | 'config'>): Promise<StorageView> {
  const rows = await listMeasures(db)
  const disk = await diskSpace(config.dataDir)
  const newest = rows.at(-1)
  const waiting = await countJobs(db, { tasks: ['storage.measure'] })
  const failed = await countJobs(db, { tasks: ['storage.measure'], state: 'failed' })
  const growth = growthOf(rows, config, disk.freeBytes)
  return {
    measured: newest?.measured.toISOString() ?? null,
    measuring: waiting > failed,
    kinds: newest === undefined ? [] : kindsOf(newest),
    disk: {
      free_bytes: disk.freeBytes,
      total_bytes: disk.totalBytes,
      used_by_depot: newest === undefined ? null : bytesOnDisk(newest, config),
    },
    growth: { bytes_per_day: growth.bytesPerDay, days_left: growth.daysLeft },
    projects: await projectsOf(db, newest),
    orphans: {
      files: newest?.orphan_files ?? 0,
      bytes: newest?.orphan_bytes ?? 0,
      listed: newest?.details?.orphans ?? [],
    },
    days: rows.map(({ day, version_bytes, image_bytes, event_bytes, database_bytes }) => {
      return { day, version_bytes, image_bytes, event_bytes, database_bytes }
    }),
  }
}

function kindsOf(row: MeasuredDay): StorageView['kinds'] {
  return [
    { kind: 'version_files', bytes: row.version_bytes, files: row.version_files },
    { kind: 'images', bytes: row.image_bytes, files: row.image_files },
    { kind: 'orphaned_files', bytes: row.orphan_bytes, files: row.orphan_files },
    { kind: 'events', bytes: row.event_bytes, files: null },
    { kind: 'database', bytes: row.database_bytes, files: null },
  ]
}

/** Projects that were deleted since the measurement are omitted. */
async function projectsOf(db: Deps['db'], newest: MeasuredDay | undefined): Promise<StorageView['projects']> {
  const largest = newest?.details?.largest ?? []
  const ids = largest.map(({ id }) => id)
  const names = await listNames(db, ids)
  return largest.flatMap(({ id, bytes, files }) => {
    const known = names.get(id)
    return known === undefined ? [] : [{ id, slug: known.slug, name: known.name, bytes, files }]
  })
}
