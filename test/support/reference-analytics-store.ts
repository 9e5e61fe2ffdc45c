// The store as arrays in memory, so plain that it is obviously right: what the conformance tests compare the real
// adapters with. It shares only the rules that belong to all adapters (points.ts, slices.ts, metrics.ts).

import type { AnalyticsStore, SourcedMetric } from '#analytics-store/analytics-store.ts'
import { countByVersion } from '#analytics-store/download-counts.ts'
import type { DownloadEvent, EventKind, EventRow } from '#analytics-store/events.ts'
import { dimensionsOf, metricOf, sourcesOf } from '#analytics-store/metrics.ts'
import { buildSlices, type Cell } from '#analytics-store/points.ts'
import { type SliceGrid, sliceEdges } from '#analytics-store/slices.ts'
import { newId } from '#lib/ids.ts'

type StoredRow = EventRow & { sequence: number }

export function openNaiveStore(): AnalyticsStore {
  const rows: Record<EventKind, StoredRow[]> = { view: [], download: [], playtime: [], affiliate_click: [] }
  const identity = newId()
  let lastSequence = 0

  return {
    async append(kind, events) {
      if (events.length === 0) return { sequence: 0 }
      const sequence = kind === 'download' ? lastSequence + 1 : 0
      lastSequence += kind === 'download' ? 1 : 0
      for (const event of events) rows[kind].push({ ...(event as EventRow), sequence } as StoredRow)
      return { sequence }
    },

    async query({ grid, metrics }) {
      return metrics.map((request) => {
        const events = rows[metricOf(request.metric).from as EventKind]
        return buildSlices(request, grid.count, countCells(grid, request, events))
      })
    },

    async countDownloads({ after = 0, upTo = Number.POSITIVE_INFINITY, projectIds }) {
      const counted = rows.download.filter(
        (row) =>
          row.sequence > after &&
          row.sequence <= upTo &&
          (projectIds === undefined || projectIds.includes((row as unknown as DownloadEvent).project_id)),
      )
      return countByVersion(counted as unknown as DownloadEvent[])
    },

    identity: async () => identity,
    lastSequence: async () => lastSequence,
    check: async () => undefined,
    close: async () => undefined,
  }
}

function countCells(grid: SliceGrid, request: SourcedMetric, events: readonly EventRow[]): Cell[] {
  const metric = metricOf(request.metric)
  const dimensions = dimensionsOf(request)
  const sources = sourcesOf(request, request.sources)
  const edges = sliceEdges(grid)
  const cells = new Map<string, Cell>()
  for (const event of events) {
    const { recorded_at } = event
    const source = String(event[metric.source])
    const recordedAt = Number(recorded_at)
    if (!sources.includes(source) || recordedAt < grid.startMs || recordedAt >= grid.endMs) continue
    const isWanted = Object.entries(request.filterBy).every(([field, wanted]) =>
      wanted.some((value) => value === event[field]),
    )
    if (!isWanted) continue
    const slice = edges.findLastIndex((edge) => edge <= recordedAt)
    const values = dimensions.map((field) => event[field] as string | boolean)
    const key = JSON.stringify([slice, source, values])
    const cell = cells.get(key) ?? { slice, source, values, amount: 0 }
    cell.amount += metric.sum === undefined ? 1 : Number(event[metric.sum])
    cells.set(key, cell)
  }
  return [...cells.values()]
}
