// Estimates when the disk will be full.
import { DAY_MS } from '#lib/time.ts'
import type { Config } from '#platform/config/config.ts'
import type { StorageRow } from './queries.ts'

/** Period of the estimate: a longer one reacts too slowly to a change. */
const BASIS_MS = 30 * DAY_MS

/** Returns the size of everything that is on the disk of the data folder. */
export function bytesOnDisk(row: StorageRow, { files, database }: Pick<Config, 'files' | 'database'>): number {
  const stored = files.store.kind === 'folder' ? row.version_bytes + row.image_bytes + row.orphan_bytes : 0
  return stored + (row.event_bytes ?? 0) + (database.kind === 'embedded' ? row.database_bytes : 0)
}

export type Growth = { bytesPerDay: number | null; daysLeft: number | null }

/** `bytesPerDay` is null before the second day; `daysLeft` is null while the storage does not grow. */
export function growthOf(
  rows: readonly StorageRow[],
  config: Pick<Config, 'files' | 'database'>,
  freeBytes: number,
): Growth {
  const last = rows.at(-1)
  const first = rows.find(
    ({ measured }) => last !== undefined && last.measured.getTime() - measured.getTime() <= BASIS_MS,
  )
  if (first === undefined || last === undefined || first === last) return { bytesPerDay: null, daysLeft: null }
  const days = (last.measured.getTime() - first.measured.getTime()) / DAY_MS
  const bytesPerDay = Math.round((bytesOnDisk(last, config) - bytesOnDisk(first, config)) / days)
  return { bytesPerDay, daysLeft: bytesPerDay > 0 ? Math.floor(freeBytes / bytesPerDay) : null }
}
