// Reads the table of batches, which a view fills: which batches are stored, and the counts of their downloads.
import { HOUR_MS } from '#lib/time.ts'
import {
  type DownloadCounts,
  type DownloadRange,
  LISTED_BATCHES_MAX,
  type ListedBatch,
  type VersionDownloads,
} from '../analytics-store.ts'
import { addDownloads } from '../download-counts.ts'
import type { ClickHouse } from './connection.ts'

/** Maximum difference between the clocks of processes and the server. */
const CLOCK_SKEW_MS = HOUR_MS

/** Whether a batch that was created at that time is stored. */
export async function isStored(
  connection: ClickHouse,
  { id, madeAt }: { id: string; madeAt: number },
): Promise<boolean> {
  const rows = await connection.all({
    sql: `SELECT 1 FROM event_batches WHERE batch_id = {id:String} AND stored_at >= ${instant('from')} LIMIT 1`,
    params: { id, from: Math.floor(madeAt) - CLOCK_SKEW_MS },
  })
  return rows.length > 0
}

export async function listBatches(connection: ClickHouse, { from }: { from: number }): Promise<ListedBatch[]> {
  // A batch that was stored in two attempts can have two rows until ClickHouse merges them.
  const rows = await connection.all<[id: string, storedAt: number]>({
    sql: `SELECT batch_id, toUnixTimestamp64Milli(min(stored_at)) AS first FROM event_batches
      WHERE kind = 'download' AND stored_at >= ${instant('from')} GROUP BY batch_id
      ORDER BY first, batch_id LIMIT ${LISTED_BATCHES_MAX}`,
    params: { from },
  })
  return rows.map(([id, storedAt]) => ({ id, storedAt }))
}

export async function readBatches(
  connection: ClickHouse,
  ids: readonly string[],
): Promise<Map<string, VersionDownloads[]>> {
  if (ids.length === 0) return new Map()
  const rows = await connection.all<[id: string, keys: string[], amounts: number[]]>({
    sql: `SELECT batch_id, counts.1, counts.2 FROM event_batches
      WHERE kind = 'download' AND batch_id IN {ids:Array(String)} LIMIT 1 BY batch_id`,
    params: { ids },
  })
  return new Map(
    rows.map(([id, keys, amounts]) => [
      id,
      keys.map((key, i) => {
        const [project_id = '', version_id = ''] = key.split('\t')
        return { project_id, version_id, downloads: amounts[i] ?? 0 }
      }),
    ]),
  )
}

/** Counts downloads by project and version, in byte order of their IDs. */
export async function countDownloads(connection: ClickHouse, range: DownloadRange): Promise<DownloadCounts> {
  const { storedBefore, alsoBatches = [], projectIds } = range
  const before = storedBefore === undefined ? '' : `AND stored_at < ${instant('before')}`
  const ofProjects = projectIds === undefined ? '' : 'AND project_id IN {projects:Array(String)}'
  const also =
    storedBefore === undefined || alsoBatches.length === 0
      ? ''
      : `UNION ALL
        SELECT splitByChar('\\t', key)[1] AS project_id, splitByChar('\\t', key)[2] AS version_id, amount AS n FROM (
          SELECT counts FROM event_batches
          WHERE kind = 'download' AND batch_id IN {also:Array(String)} AND stored_at >= ${instant('before')}
          LIMIT 1 BY batch_id)
        ARRAY JOIN counts.1 AS key, counts.2 AS amount WHERE true ${ofProjects}`
  const counts: DownloadCounts = { projects: [], versions: [] }
  const statement = {
    sql: `SELECT project_id, version_id, sum(n) FROM (
        SELECT project_id, version_id, count() AS n FROM downloads WHERE true ${before} ${ofProjects}
        GROUP BY project_id, version_id
        ${also})
      GROUP BY project_id, version_id ORDER BY project_id, version_id`,
    params: { before: storedBefore ?? 0, projects: projectIds ?? [], also: alsoBatches },
  }
  await connection.read<[string, string, number]>(statement, (rows) => {
    for (const [project_id, version_id, downloads] of rows) addDownloads(counts, { project_id, version_id, downloads })
  })
  return counts
}

/** Returns SQL for an instant from a parameter in milliseconds. */
const instant = (name: string): string => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`
