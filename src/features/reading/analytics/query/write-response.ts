// Writes query results as JSON or CSV in pieces, because serialising up to 250,000 points would block the event loop.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { csvCell } from '#lib/text/csv.ts'
import { METRICS } from '#ports/analytics-store/metrics.ts'
import type { Point } from '#ports/analytics-store/points.ts'
import { type SliceGrid, sliceEdges } from '#ports/analytics-store/slices.ts'
import type { AnalyticsQuery } from '../requests.ts'
import { bucketFields } from '../views.ts'

/** Number of points per piece. Serialising them takes about 1 ms. */
const PIECE_POINTS = 1_000

/** Writes the slices as a JSON array of arrays of points. */
export async function* writeJson(slices: readonly (readonly Point[])[]): AsyncGenerator<string> {
  let text = '['
  let written = 0
  for (const [index, slice] of slices.entries()) {
    text += index === 0 ? '[' : ',['
    for (let from = 0; from < slice.length; from += PIECE_POINTS) {
      const part = slice.slice(from, from + PIECE_POINTS)
      text += `${from === 0 ? '' : ','}${JSON.stringify(part).slice(1, -1)}`
      written += part.length
      if (written >= PIECE_POINTS) {
        yield text
        await yieldToEventLoop()
        text = ''
        written = 0
      }
    }
    text += ']'
  }
  yield `${text}]`
}

/** Writes one row per point (RFC 4180): slice, metric, source, requested buckets and value. */
export async function* writeCsv(
  { grid, metrics }: Pick<AnalyticsQuery, 'metrics'> & { grid: SliceGrid },
  slices: readonly (readonly Point[])[],
): AsyncGenerator<string> {
  const requested = new Set(metrics.flatMap(({ bucketBy }) => bucketBy))
  const buckets = bucketFields(metrics.map(({ metric }) => metric)).filter((field) => requested.has(field))
  const fields = ['metric_kind', 'source_project', 'source_affiliate_code', ...buckets]
  const edges = sliceEdges(grid).map((ms) => new Date(ms).toISOString())
  let text = `${['slice_start', 'slice_end', ...fields, 'value'].join(',')}\r\n`
  let written = 0
  for (const [index, slice] of slices.entries()) {
    for (const point of slice) {
      const values = fields.map((field) => csvCell(point[field]))
      text += `${edges[index]},${edges[index + 1]},${values.join(',')},${amountOf(point)}\r\n`
      written += 1
      if (written % PIECE_POINTS > 0) continue
      yield text
      await yieldToEventLoop()
      text = ''
    }
  }
  yield text
}

const VALUE_FIELDS = new Map(Object.values(METRICS).map(({ kind, value }): [string, string] => [kind, value]))

function amountOf(point: Point): string {
  return String(point[VALUE_FIELDS.get(String(point['metric_kind'])) ?? ''] ?? '')
}
