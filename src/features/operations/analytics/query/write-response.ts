// Answers as JSON and as CSV, written a piece at a time: a quarter of a million points would block the event loop.
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { csvCell } from '#lib/text/csv.ts'
import { METRICS } from '#ports/analytics-store/metrics.ts'
import type { Point } from '#ports/analytics-store/points.ts'
import { type SliceGrid, sliceEdges } from '#ports/analytics-store/slices.ts'
import type { AnalyticsQuery } from '../requests.ts'
import { bucketFields } from '../views.ts'

/** A thousand points take about a millisecond. */
const POINTS_AT_ONCE = 1_000

/** The JSON array of slices. */
export async function* writeJson(slices: readonly (readonly Point[])[]): AsyncGenerator<string> {
  let text = '['
  let written = 0
  for (const [index, slice] of slices.entries()) {
    text += index === 0 ? '[' : ',['
    for (let from = 0; from < slice.length; from += POINTS_AT_ONCE) {
      const part = slice.slice(from, from + POINTS_AT_ONCE)
      text += `${from === 0 ? '' : ','}${JSON.stringify(part).slice(1, -1)}`
      written += part.length
      if (written >= POINTS_AT_ONCE) {
        yield text
        await yieldToOthers()
        text = ''
        written = 0
      }
    }
    text += ']'
  }
  yield `${text}]`
}

/** One row for each point (RFC 4180): when, what, of whom, the buckets that were asked for, and the value. */
export async function* writeCsv(
  { grid, metrics }: Pick<AnalyticsQuery, 'metrics'> & { grid: SliceGrid },
  slices: readonly (readonly Point[])[],
): AsyncGenerator<string> {
  const asked = new Set(metrics.flatMap(({ bucketBy }) => bucketBy))
  const buckets = bucketFields(metrics.map(({ metric }) => metric)).filter((field) => asked.has(field))
  const fields = ['metric_kind', 'source_project', 'source_affiliate_code', ...buckets]
  const edges = sliceEdges(grid).map((ms) => new Date(ms).toISOString())
  let text = `${['slice_start', 'slice_end', ...fields, 'value'].join(',')}\r\n`
  let written = 0
  for (const [index, slice] of slices.entries()) {
    for (const point of slice) {
      const values = fields.map((field) => csvCell(point[field]))
      text += `${edges[index]},${edges[index + 1]},${values.join(',')},${amountOf(point)}\r\n`
      written += 1
      if (written % POINTS_AT_ONCE > 0) continue
      yield text
      await yieldToOthers()
      text = ''
    }
  }
  yield text
}

const VALUE_FIELDS = new Map(Object.values(METRICS).map(({ kind, value }): [string, string] => [kind, value]))

function amountOf(point: Point): string {
  return String(point[VALUE_FIELDS.get(String(point['metric_kind'])) ?? ''] ?? '')
}

/** Whether an `Accept` header asks for CSV rather than JSON; the first named wins where both weigh the same. */
export function prefersCsv(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const weights = accept.split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))
    return { type, weight: quality === undefined ? 1 : Number(quality.slice(2)) }
  })
  const csv = weights.findIndex(({ type, weight }) => type === 'text/csv' && weight > 0)
  const json = weights.findIndex(({ type }) => type === 'application/json')
  if (csv < 0) return false
  const difference = (weights[csv]?.weight ?? 0) - (json < 0 ? 0 : (weights[json]?.weight ?? 0))
  return difference > 0 || (difference === 0 && csv < json)
}
