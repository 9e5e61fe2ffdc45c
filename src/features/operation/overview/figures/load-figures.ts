// Figures of a period: totals, and one point per step.
import type { Db } from '#platform/db/db.ts'
import { noDurations, percentile } from '#platform/telemetry/figures.ts'
import { FIGURES, noFigures } from './figures.ts'
import { type Period, rangeOf } from './periods.ts'
import { type FigurePoint, listFigures } from './queries.ts'
import type { FiguresView } from './views.ts'

/** Returns the figures of the period that ends now. Steps without figures are 0: no process was running. */
export async function loadFigures(db: Db, period: Period, now: number): Promise<FiguresView> {
  const { since, until, span, stepMs } = rangeOf(period, now)
  const known = await listFigures(db, { span, since, until, stepSeconds: stepMs / 1000 })
  const byTime = new Map(known.map((point) => [point.at.getTime(), point]))
  const points: FigurePoint[] = []
  for (let at = since.getTime(); at < until.getTime(); at += stepMs)
    points.push(byTime.get(at) ?? { at: new Date(at), ...noFigures(), durations: noDurations(), in_review: null })
  return {
    period,
    since: since.toISOString(),
    until: until.toISOString(),
    step_seconds: stepMs / 1000,
    totals: toFigures(sumOf(points)),
    points: points.map((point) => ({ at: point.at.toISOString(), ...toFigures(point) })),
  }
}

function sumOf(points: readonly FigurePoint[]): FigurePoint {
  const total = { at: new Date(0), ...noFigures(), durations: noDurations(), in_review: null as number | null }
  for (const point of points) {
    for (const figure of FIGURES) total[figure] += point[figure]
    total.durations = total.durations.map((count, place) => count + (point.durations[place] ?? 0))
    total.in_review = point.in_review ?? total.in_review
  }
  return total
}

function toFigures({ durations, at: _, ...counts }: FigurePoint): FiguresView['totals'] {
  return { ...counts, median_ms: percentile(durations, 0.5), p95_ms: percentile(durations, 0.95) }
}
