// Batches as the view writes them beside the events: which are stored, and what their downloads add to the counters.
import { HOUR_MS } from '#lib/time.ts'
import {
  type DownloadCounts,
  type DownloadRange,
  LISTED_BATCHES_MAX,
  type ListedBatch,
  type VersionDownloads,
} from '../analytics-store.ts'
import type { ClickHouse, Row } from './connection.ts'

/** How far clocks of processes and of the server may differ. */
const CLOCK_SKEW_MS = HOUR_MS

/** Whether a batch made at that time is stored. */
export async function isStored(
  connection: ClickHouse,
  { id, madeAt }: { id: string; madeAt: number },
): Promise<boolean> {
  const found = await connection.all({
    sql: `SELECT 1 FROM event_batches WHERE batch_id = {id:String} AND stored_at >= ${instant('from')} LIMIT 1`,
    params: { id, from: Math.floor(madeAt) - CLOCK_SKEW_MS },
  })
  return found.length > 0
}

export async function listBatches(
  connection: ClickHouse,
  { from, to = Number.MAX_SAFE_INTEGER }: { from: number; to?: number },
): Promise<ListedBatch[]> {
  // A batch that was stored in two attempts may have two rows until they are merged.
  const rows = await connection.all({
    sql: `SELECT batch_id, toUnixTimestamp64Milli(min(stored_at)) AS first FROM event_batches
      WHERE kind = 'download' AND stored_at >= ${instant('from')} GROUP BY batch_id
      HAVING first < {to:Int64} ORDER BY first, batch_id LIMIT ${LISTED_BATCHES_MAX}`,
    params: { from, to },
  })
  return rows.map(([id, storedAt]) => ({ id: String(id), storedAt: Number(storedAt) }))
}

export async function readBatches(
  connection: ClickHouse,
  ids: readonly string[],
): Promise<Map<string, VersionDownloads[]>> {
  if (ids.length === 0) return new Map()
  const rows = await connection.all({
    sql: `SELECT batch_id, counts.1, counts.2 FROM event_batches
      WHERE kind = 'download' AND batch_id IN {ids:Array(String)} LIMIT 1 BY batch_id`,
    params: { ids },
  })
  return new Map(
    rows.map(([id, keys, amounts]) => [
      String(id),
      (keys as string[]).map((key, i) => {
        const [project_id = '', version_id = ''] = key.split('\t')
        return { project_id, version_id, downloads: (amounts as number[])[i] ?? 0 }
      }),
    ]),
  )
}

/** Downloads by project and version, in order of their IDs (byte order). */
export async function countDownloads(connection: ClickHouse, range: DownloadRange): Promise<DownloadCounts> {
  const { storedBefore, alsoBatches = [], projectIds } = range
  const before = storedBefore === undefined ? '' : `AND stored_at < ${instant('before')}`
  const named = projectIds === undefined ? '' : 'AND project_id IN {projects:Array(String)}'
  const also =
    storedBefore === undefined || alsoBatches.length === 0
      ? ''
      : `UNION ALL
        SELECT splitByChar('\\t', key)[1] AS project_id, splitByChar('\\t', key)[2] AS version_id, amount AS n FROM (
          SELECT counts FROM event_batches
          WHERE kind = 'download' AND batch_id IN {also:Array(String)} AND stored_at >= ${instant('before')}
          LIMIT 1 BY batch_id)
        ARRAY JOIN counts.1 AS key, counts.2 AS amount WHERE true ${named}`
  const counts: DownloadCounts = { projects: [], versions: [] }
  const statement = {
    sql: `SELECT project_id, version_id, sum(n) FROM (
        SELECT project_id, version_id, count() AS n FROM downloads WHERE true ${before} ${named}
        GROUP BY project_id, version_id
        ${also})
      GROUP BY project_id, version_id ORDER BY project_id, version_id`,
    params: { before: storedBefore ?? 0, projects: projectIds ?? [], also: alsoBatches },
  }
  await connection.read(statement, (rows) => {
    for (const row of rows) addCount(counts, row)
  })
  return counts
}

function addCount({ projects, versions }: DownloadCounts, row: Row): void {
  const [project, version, amount] = row
  const project_id = String(project)
  const downloads = Number(amount)
  const last = projects.at(-1)
  if (last?.project_id === project_id) last.downloads += downloads
  else projects.push({ project_id, downloads })
  versions.push({ project_id, version_id: String(version), downloads })
}

/** The instant in a parameter of milliseconds. */
const instant = (name: string): string => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`
