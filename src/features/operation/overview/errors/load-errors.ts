// Server errors of a period.
import { HOUR_MS } from '#lib/time.ts'
import type { Page } from '#platform/db/db.ts'
import type { Deps } from '#ports/deps.ts'
import { PERIODS, type Period } from '../figures/periods.ts'
import { listErrors } from '../figures/queries.ts'
import type { ErrorsView } from './views.ts'

/** Returns the errors of the period, which begins with a full hour because errors are counted per hour. */
export async function loadErrors(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  period: Period,
  page: Page,
): Promise<ErrorsView> {
  const since = new Date(Math.floor((now() - PERIODS[period].lengthMs) / HOUR_MS) * HOUR_MS)
  const rows = await listErrors(db, { since, ...page })
  return { since: since.toISOString(), errors: rows.map(({ last, ...row }) => ({ ...row, last: last.toISOString() })) }
}
