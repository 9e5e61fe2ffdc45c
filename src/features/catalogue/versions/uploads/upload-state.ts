// Numbers of uploads for operators.
import type pg from 'pg'
import type { UploadState } from '#platform/telemetry/observe.ts'

/** Counts the uploads that no version has used yet. The statement reads every row. */
export async function readUploadState(pool: pg.Pool): Promise<UploadState> {
  const { rows } = await pool.query<UploadState>(`select
    count(*) filter (where received is distinct from length)::int as unfinished,
    count(*) filter (where received = length)::int as finished,
    coalesce(sum(received), 0)::float8 as bytes from upload`)
  const [state] = rows
  if (state === undefined) throw new Error('The count returned no row')
  return state
}
