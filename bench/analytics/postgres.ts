// The same events as plain PostgreSQL tables with an index on (project, time): what the analytics bench compares with.
import pg from 'pg'
import type { SourcedMetric, StoreQuery } from '#ports/analytics-store/analytics-store.ts'
import { COLUMNS, type DownloadEvent, type ViewEvent } from '#ports/analytics-store/events.ts'
import { buildSlices, type MetricSlices } from '#ports/analytics-store/points.ts'

const TABLES = { view: 'bench_views', download: 'bench_downloads' } as const
const TYPES = { time: 'bigint', term: 'text', text: 'text', flag: 'boolean', number: 'bigint' } as const

type Kind = keyof typeof TABLES

export type PostgresTwin = {
  append(views: readonly ViewEvent[], downloads: readonly DownloadEvent[]): Promise<void>
  /** Makes the indexes and vacuums; returns the milliseconds it took. */
  finish(): Promise<number>
  sizeBytes(): Promise<number>
  query(query: StoreQuery): Promise<MetricSlices[]>
  /** Drops what it made. */
  close(): Promise<void>
}

/** Undefined without an address. */
export async function openPostgresTwin(url: string | undefined): Promise<PostgresTwin | undefined> {
  if (url === undefined || url === '') return undefined
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const kinds: Kind[] = ['view', 'download']
  for (const kind of kinds) {
    const columns = columnsOf(kind).map(([name, type]) => {
      const collation = type === 'text' || type === 'term' ? ' COLLATE "C"' : ''
      return `${name} ${TYPES[type]}${collation} NOT NULL`
    })
    await client.query(`CREATE TABLE ${TABLES[kind]} (${columns.join(', ')})`)
  }
  return {
    async append(views, downloads) {
      await insert(client, 'view', views)
      await insert(client, 'download', downloads)
    },
    async finish() {
      const began = performance.now()
      for (const kind of kinds) {
        await client.query(`CREATE INDEX ON ${TABLES[kind]} (project_id, recorded_at)`)
        await client.query(`VACUUM ANALYZE ${TABLES[kind]}`)
      }
      return performance.now() - began
    },
    async sizeBytes() {
      const sizes = kinds.map((kind) => `pg_total_relation_size('${TABLES[kind]}')`)
      const result = await client.query<{ bytes: string }>(`SELECT ${sizes.join(' + ')} AS bytes`)
      return Number(result.rows[0]?.bytes)
    },
    async query(query) {
      const parts: MetricSlices[] = []
      for (const request of query.metrics) parts.push(await queryMetric(client, query, request))
      return parts
    },
    async close() {
      for (const kind of kinds) await client.query(`DROP TABLE ${TABLES[kind]}`)
      await client.end()
    },
  }
}

function columnsOf(kind: Kind): [string, keyof typeof TYPES][] {
  return Object.entries(COLUMNS[kind])
}

async function insert(client: pg.Client, kind: Kind, events: readonly Record<string, unknown>[]): Promise<void> {
  const columns = columnsOf(kind)
  const parameters = columns.map(([, type], i) => `$${i + 1}::${TYPES[type]}[]`)
  const values = columns.map(([name]) => events.map((event) => event[name]))
  await client.query(`INSERT INTO ${TABLES[kind]} SELECT * FROM unnest(${parameters.join(', ')})`, values)
}

/** Counts as a good SQL author would: one statement, the country floor inside it. */
async function queryMetric(client: pg.Client, { grid }: StoreQuery, request: SourcedMetric): Promise<MetricSlices> {
  const table = request.metric === 'project_views' ? TABLES.view : TABLES.download
  const isByCountry = request.bucketBy.includes('country')
  const country = isByCountry ? ', country' : ''
  const cells = `
    SELECT ((recorded_at - $2) * $4::bigint / $5)::int AS slice, project_id ${country}, count(*)::int AS amount
    FROM ${table} WHERE project_id = ANY ($1) AND recorded_at >= $2 AND recorded_at < $3
    GROUP BY 1, 2 ${isByCountry ? ', 3' : ''}`
  const floored = `
    SELECT slice, project_id, CASE WHEN amount < 50 THEN 'XX' ELSE country END AS country, sum(amount)::int AS amount
    FROM (${cells}) AS cell GROUP BY 1, 2, 3`
  const values = [request.sources, grid.startMs, grid.endMs, grid.parts, grid.widthMs]
  const result = await client.query<{ slice: number; project_id: string; country?: string; amount: number }>(
    isByCountry ? floored : cells,
    values,
  )
  const rows = result.rows.map(({ slice, project_id, country, amount }) => ({
    slice,
    source: project_id,
    values: country === undefined ? [] : [country],
    amount,
  }))
  return buildSlices(request, grid.count, rows)
}
