// Figures of the instance per minute and per hour, and server errors per hour.
import { sql } from 'kysely'
import { HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import type { Db } from '#platform/db/db.ts'
import { noDurations, type TakenFigures } from '#platform/telemetry/figures.ts'
import { COUNT_OF, FIGURES, type Figure, noFigures } from './figures.ts'

/** Figures of a process in a minute. */
export type MinuteFigures = TakenFigures & { minute: Date }

const SPANS = { minute: MINUTE_MS, hour: HOUR_MS } as const
export type Span = keyof typeof SPANS

type FigureRow = Record<Figure, number> & { span: Span; at: Date; durations: number[] }

/** Adds the figures of a process to the rows of their minutes and hours, in one statement, and its errors in another. */
export async function addFigures(db: Db, minutes: readonly MinuteFigures[]): Promise<void> {
  const rows = toRows(minutes)
  const sum = (figure: string) =>
    sql`${sql.ref(figure)} = ${sql.ref(`figure.${figure}`)} + ${sql.ref(`excluded.${figure}`)}`
  const names = sql.join(FIGURES.map((figure) => sql.ref(figure)))
  const values = rows.map((row) => {
    const counts = sql.join(FIGURES.map((figure) => sql`${row[figure]}::int`))
    return sql`(${row.span}, ${row.at}::timestamptz, ${row.durations}::int[], ${counts},
      (select count(*) from project where status = 'processing'))`
  })
  await sql`insert into instance_figure as figure (span, at, durations, ${names}, in_review)
    values ${sql.join(values)}
    on conflict (span, at) do update set ${sql.join(FIGURES.map(sum))}, in_review = excluded.in_review,
      durations = array(select coalesce(stored, 0) + coalesce(added, 0)
        from unnest(figure.durations, excluded.durations) with ordinality pair (stored, added, place) order by place)`.execute(
    db,
  )
  await addErrors(db, minutes)
}

function toRows(minutes: readonly MinuteFigures[]): FigureRow[] {
  const rows = new Map<string, FigureRow>()
  for (const { minute, counts, durations } of minutes) {
    for (const span of ['minute', 'hour'] as const) {
      const at = startOf(span, minute)
      const key = `${span} ${at.toISOString()}`
      const row = rows.get(key) ?? { span, at, durations: noDurations(), ...noFigures() }
      for (const figure of FIGURES) row[figure] += counts.get(COUNT_OF[figure]) ?? 0
      row.durations = row.durations.map((count, place) => count + (durations[place] ?? 0))
      rows.set(key, row)
    }
  }
  // In one order, so that processes that write at the same time wait for each other instead of a deadlock.
  return [...rows.values()].sort((a, b) => a.span.localeCompare(b.span) || a.at.getTime() - b.at.getTime())
}

function startOf(span: Span, time: Date): Date {
  return new Date(Math.floor(time.getTime() / SPANS[span]) * SPANS[span])
}

async function addErrors(db: Db, minutes: readonly MinuteFigures[]): Promise<void> {
  const rows = new Map<
    string,
    { hour: Date; code: string; route: string; count: number; last: Date; request: string }
  >()
  for (const { minute, errors } of minutes) {
    for (const { code, route, count, requestId } of errors) {
      const hour = startOf('hour', minute)
      const key = `${hour.toISOString()} ${code} ${route}`
      const before = rows.get(key)?.count ?? 0
      rows.set(key, { hour, code, route, count: before + count, last: minute, request: requestId })
    }
  }
  if (rows.size === 0) return
  const values = [...rows.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { hour, code, route, count, last, request }]) => {
      return sql`(${hour}::timestamptz, ${code}, ${route}, ${count}::int, ${last}::timestamptz, ${request})`
    })
  await sql`insert into instance_error as known (hour, code, route, count, last, request_id)
    values ${sql.join(values)}
    on conflict (hour, code, route) do update set count = known.count + excluded.count,
      last = greatest(known.last, excluded.last), request_id = excluded.request_id`.execute(db)
}

export type FigurePoint = Record<Figure, number> & { at: Date; durations: number[]; in_review: number | null }

/** Returns the figures of a period in steps of `stepSeconds`, oldest first. Steps without figures are omitted. */
export async function listFigures(
  db: Db,
  { span, since, until, stepSeconds }: { span: Span; since: Date; until: Date; stepSeconds: number },
): Promise<FigurePoint[]> {
  const sums = sql.join(FIGURES.map((figure) => sql`sum(${sql.ref(figure)})::int as ${sql.ref(figure)}`))
  const { rows } = await sql<FigurePoint>`
    with figure as materialized (
      select to_timestamp(floor(extract(epoch from at) / ${stepSeconds}::float8) * ${stepSeconds}::float8) as step, instance_figure.*
      from instance_figure where span = ${span} and at >= ${since} and at < ${until}
    ), duration as (
      select step, array_agg(total order by place) as durations from (
        select step, place, sum(count)::int as total
        from figure, unnest(durations) with ordinality part (count, place) group by step, place
      ) total group by step
    )
    select step as at, ${sums}, coalesce(min(duration.durations), '{}') as durations,
      (array_agg(in_review order by figure.at desc) filter (where in_review is not null))[1] as in_review
    from figure left join duration using (step) group by step order by step`.execute(db)
  return rows
}

export type ErrorRow = { code: string; route: string; count: number; last: Date; request_id: string }

/** Returns the server errors since the hour of `since`, the most frequent first. */
export async function listErrors(
  db: Db,
  { since, limit, offset }: { since: Date; limit: number; offset: number },
): Promise<ErrorRow[]> {
  const { rows } = await sql<ErrorRow>`
    select code, route, sum(count)::int as count, max(last) as last, (array_agg(request_id order by last desc))[1] as request_id
    from instance_error where hour >= ${startOf('hour', since)}
    group by code, route order by 3 desc, code, route limit ${limit} offset ${offset}`.execute(db)
  return rows
}

/** Deletes figures and errors that are older than their retention. */
export async function deleteOldFigures(db: Db, before: { minute: Date; hour: Date }): Promise<void> {
  await sql`delete from instance_figure where (span = 'minute' and at < ${before.minute}) or (span = 'hour' and at < ${before.hour})`.execute(
    db,
  )
  await db.deleteFrom('instance_error').where('hour', '<', before.hour).execute()
}
