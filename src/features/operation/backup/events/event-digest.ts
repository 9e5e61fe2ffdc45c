// Summarises the events of a store by kind and day, to compare two stores.
import { hash } from 'node:crypto'
import { DAY_MS } from '#lib/time.ts'
import type { AnalyticsStore } from '#ports/analytics-store/analytics-store.ts'
import { columnsOf, EVENT_KINDS, type EventKind } from '#ports/analytics-store/events.ts'

/** Number of events and sum of their hashes modulo 2^64 (as two halves), by kind and day (`view 2026-11-22`). */
export type EventDigest = Record<string, [count: number, high: number, low: number]>

/** Wraps a store so that every event that is read is added to the digest. */
export function withDigest(
  store: Pick<AnalyticsStore, 'readEvents'>,
  digest: EventDigest,
): Pick<AnalyticsStore, 'readEvents'> {
  return {
    readEvents: (kind, onLines) =>
      store.readEvents(kind, async (lines) => {
        for (const line of lines) add(digest, kind, line)
        await onLines(lines)
      }),
  }
}

/** Reads all events of a store and returns their digest. */
export async function digestOf(
  store: Pick<AnalyticsStore, 'readEvents'>,
  onProgress: (events: number) => void,
): Promise<EventDigest> {
  const digest: EventDigest = {}
  const digested = withDigest(store, digest)
  let done = 0
  for (const kind of EVENT_KINDS) {
    await digested.readEvents(kind, async (lines) => {
      done += lines.length
      onProgress(done)
    })
  }
  return digest
}

function add(digest: EventDigest, kind: EventKind, line: string): void {
  // Stores format lines differently, so the parsed values are compared.
  const values: unknown[] = JSON.parse(line)
  const bytes = hash('sha256', JSON.stringify(values), 'buffer')
  const recordedAt = values[columnsOf(kind).findIndex(([name]) => name === 'recorded_at')]
  const day = new Date(Math.floor(Number(recordedAt) / DAY_MS) * DAY_MS).toISOString().slice(0, 10)
  const name = `${kind} ${day}`
  const sum = digest[name] ?? [0, 0, 0]
  digest[name] = sum
  sum[0] += 1
  sum[1] = (sum[1] + bytes.readUInt32BE(0)) >>> 0
  sum[2] = (sum[2] + bytes.readUInt32BE(4)) >>> 0
}

/** Describes the first kind and day that differ; undefined if both digests are equal. */
export function differenceOf(before: EventDigest, after: EventDigest): string | undefined {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [[count, ...sums], [now, ...others]] = [before[name] ?? [0, 0, 0], after[name] ?? [0, 0, 0]]
    if (count !== now || sums.join() !== others.join()) return `${name} (${count} events before, ${now} after)`
  }
  return undefined
}

export const countOf = (digest: EventDigest): number => Object.values(digest).reduce((sum, [count]) => sum + count, 0)
