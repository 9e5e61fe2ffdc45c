// Downloads, counted in memory and added to the database in one batch a second.
import { writing } from '#cache/writing.ts'
import { addressKey } from '#lib/address-key.ts'
import { recordEvent } from '#telemetry/events.ts'
import type { Deps } from '../../deps.ts'
import { addDownloads } from './queries.ts'

export type DownloadCounter = {
  /** Counts one download of a version, unless the address has had its share of the project. */
  count(download: { projectId: string; versionId: string; address: string }): Promise<void>
  /** Writes what was counted. */
  flush(): Promise<void>
  /** Writes the rest and stops. */
  close(): Promise<void>
}

/** At most this many downloads of one project count for one address (decisions.md 5). */
const PER_ADDRESS = { max: 6, windowMs: 6 * 3_600_000 }
const FLUSH_MS = 1_000

export function createDownloadCounter(deps: Deps): DownloadCounter {
  let counted = new Map<string, { project_id: string; version_id: string; downloads: number }>()
  let running: Promise<void> = Promise.resolve()

  const write = async (): Promise<void> => {
    if (counted.size === 0) return
    const batch = counted
    counted = new Map()
    const rows = [...batch.values()]
    try {
      await writing(deps, async (tx, changed) => {
        await addDownloads(tx, rows)
        changed.add('version', ...rows.map(({ version_id }) => version_id))
        changed.add('project', ...new Set(rows.map(({ project_id }) => project_id)))
      })
    } catch (error) {
      // The database is away: what was counted goes back and is written with the next batch.
      for (const row of rows) add(row)
      deps.log.warn({ err: error }, 'Downloads could not be written; they are kept for the next try')
    }
  }
  const add = (row: { project_id: string; version_id: string; downloads: number }): void => {
    const known = counted.get(row.version_id)
    if (known === undefined) counted.set(row.version_id, { ...row })
    else known.downloads += row.downloads
  }
  const flush = (): Promise<void> => {
    running = running.then(write)
    return running
  }
  const timer = setInterval(() => void flush(), FLUSH_MS)
  timer.unref()
  return {
    async count({ projectId, versionId, address }) {
      const hit = await deps.counters.hit(`download:${addressKey(address)}:${projectId}`, PER_ADDRESS)
      if (!hit.counted) return
      add({ project_id: projectId, version_id: versionId, downloads: 1 })
      recordEvent(deps, 'file.downloaded', { project_id: projectId, version_id: versionId })
    },
    flush,
    close: async () => {
      clearInterval(timer)
      await flush()
    },
  }
}
