// The store as arrays in memory, so plain that it is obviously right: what the conformance tests compare the real
// adapters with. It shares only the rules that belong to all adapters (points.ts, slices.ts, metrics.ts).

import { newId } from '#lib/ids.ts'
import {
  type AnalyticsStore,
  checkBatch,
  LISTED_BATCHES_MAX,
  PROJECT_KINDS,
  type SourcedMetric,
} from '#ports/analytics-store/analytics-store.ts'
import { countByVersion } from '#ports/analytics-store/download-counts.ts'
import { columnsOf, type DownloadEvent, type EventKind, type EventRow } from '#ports/analytics-store/events.ts'
import { eventsOf } from '#ports/analytics-store/lines.ts'
import { dimensionsOf, metricOf, sourcesOf } from '#ports/analytics-store/metrics.ts'
import { buildSlices, type Cell } from '#ports/analytics-store/points.ts'
import { type SliceGrid, sliceEdges } from '#ports/analytics-store/slices.ts'

type StoredRow = { event: EventRow; batch: StoredBatch }
type StoredBatch = { id: string; kind: EventKind; storedAt: number }

export function openNaiveStore(): AnalyticsStore {
  const rows: Record<EventKind, StoredRow[]> = { view: [], download: [], playtime: [], affiliate_click: [] }
  const batches = new Map<string, StoredBatch>()
  const identity = newId()
  let clock = 0

  const downloads = (isWanted: (batch: StoredBatch, projectId: string) => boolean) =>
    countByVersion(
      rows.download
        .map(({ batch, event }) => ({ batch, event: event as unknown as DownloadEvent }))
        .filter(({ batch, event }) => isWanted(batch, event.project_id))
        .map(({ event }) => event),
    )

  return {
    async append(kind, batch) {
      checkBatch(batch)
      if (batches.has(batch.id)) return
      clock += 1
      const stored = { id: batch.id, kind, storedAt: clock }
      batches.set(batch.id, stored)
      for (const event of batch.events) rows[kind].push({ event: event as EventRow, batch: stored })
    },

    async appendLines(kind, batch) {
      await this.append(kind, { ...batch, events: eventsOf(kind, batch) })
    },

    async query({ grid, metrics }) {
      return metrics.map((request) => {
        const events = rows[metricOf(request.metric).from as EventKind].map(({ event }) => event)
        return buildSlices(request, grid.count, countCells(grid, request, events))
      })
    },

    async countDownloads({ storedBefore = Number.POSITIVE_INFINITY, alsoBatches = [], projectIds }) {
      return downloads(
        ({ id, storedAt }, projectId) =>
          (storedAt < storedBefore || alsoBatches.includes(id)) && projectIds?.includes(projectId) !== false,
      )
    },

    async settledAt() {
      clock += 1
      return clock
    },

    async listBatches({ from }) {
      return [...batches.values()]
        .filter(({ kind, storedAt }) => kind === 'download' && storedAt >= from)
        .map(({ id, storedAt }) => ({ id, storedAt }))
        .slice(0, LISTED_BATCHES_MAX)
    },

    async readBatches(ids) {
      const wanted = ids.filter((id) => batches.get(id)?.kind === 'download')
      return new Map(wanted.map((id) => [id, downloads((batch) => batch.id === id).versions]))
    },

    async readEvents(kind, onLines) {
      const lines = rows[kind].map(({ event }) => JSON.stringify(columnsOf(kind).map(([name]) => event[name])))
      if (lines.length > 0) await onLines(lines)
    },

    async forgetProjects(ids) {
      for (const kind of PROJECT_KINDS)
        rows[kind] = rows[kind].filter(({ event }) => !ids.includes(String(event['project_id'])))
    },

    identity: async () => identity,
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
