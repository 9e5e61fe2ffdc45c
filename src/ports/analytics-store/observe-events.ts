// Metrics of the events that wait for the analytics store.
import { counter, gauge, type Registered } from '#platform/telemetry/observe.ts'

/** State of the analytics buffer for one kind of event. */
type BufferStats = Readonly<Record<string, { pending: number; stored: number; dropped: number; lost: number }>>

/** Registers metrics of the analytics buffer. */
export function observeEventBuffer(metrics: Registered, stats: () => BufferStats): void {
  gauge(metrics, {
    name: 'depot_analytics_pending_events',
    help: 'Accepted events that are not stored yet, by kind',
    labelNames: ['kind'],
    read: () => Object.entries(stats()).map(([kind, { pending }]) => [{ kind }, pending]),
  })
  counter(metrics, {
    name: 'depot_analytics_events_total',
    help: 'Events by kind and outcome: stored (or safe on disk), dropped (the buffer was full), lost (storing failed for too long)',
    labelNames: ['kind', 'outcome'],
    read: () =>
      Object.entries(stats()).flatMap(([kind, { pending: _, ...counts }]) =>
        Object.entries(counts).map(([outcome, count]) => [{ kind, outcome }, count] as const),
      ),
  })
}

/** State of the events that wait on disk for a remote analytics store. */
type SpoolStats = Readonly<{ batches: number; bytes: number; refused: number }>

/** Registers metrics of the events on disk. */
export function observeSpool(metrics: Registered, stats: () => SpoolStats): void {
  gauge(metrics, {
    name: 'depot_analytics_spool_batches',
    help: 'Batches of events that wait on disk for the analytics store',
    read: () => stats().batches,
  })
  gauge(metrics, {
    name: 'depot_analytics_spool_bytes',
    help: 'Size of the events that wait on disk for the analytics store, in bytes',
    read: () => stats().bytes,
  })
  gauge(metrics, {
    name: 'depot_analytics_spool_refused_batches',
    help: 'Unreadable batches, and batches that the analytics store rejected, since the start; they stay on disk',
    read: () => stats().refused,
  })
}
