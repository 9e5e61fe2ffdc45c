// Numbers of uploads for operators.
import type pg from 'pg'
import { gauge, once, type Registered } from '#platform/telemetry/observe.ts'

/** Resumable uploads that no version has used yet. */
type UploadState = { unfinished: number; finished: number; bytes: number }

/** Counts the uploads that no version has used yet. The statement reads every row. */
async function readUploadState(pool: pg.Pool): Promise<UploadState> {
  const { rows } = await pool.query<UploadState>(`select
    count(*) filter (where received is distinct from length)::int as unfinished,
    count(*) filter (where received = length)::int as finished,
    coalesce(sum(received), 0)::float8 as bytes from upload`)
  const [state] = rows
  if (state === undefined) throw new Error('The count returned no row')
  return state
}

/** Registers the resumable uploads, which all processes share. If reading fails, there are no values. */
export function observeUploads(metrics: Registered, pool: pg.Pool): void {
  const state = once(() => readUploadState(pool).catch(() => undefined))
  gauge(metrics, {
    name: 'depot_upload_bytes',
    help: 'Stored bytes of resumable uploads that no version has used yet',
    read: async () => (await state())?.bytes,
  })
  gauge(metrics, {
    name: 'depot_uploads_waiting',
    help: 'Resumable uploads that no version has used yet, by state (unfinished, finished)',
    labelNames: ['state'],
    read: async () => {
      const { bytes: _, ...counts } = (await state()) ?? {}
      return Object.entries(counts).map(([name, count]) => [{ state: name }, count])
    },
  })
}
