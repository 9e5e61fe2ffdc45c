// Limits how much one IP address can add to a count. Addresses are stored only as hashes whose key changes every day.

import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import type { Counters, Window } from '#ports/counters/counters.ts'
import { createVisitorHash } from './visitor-hash.ts'

const SIX_HOURS_MS = 6 * HOUR_MS
/** Maximum number of counted downloads per project and address. */
const DOWNLOADS: Window = { max: 6, windowMs: SIX_HOURS_MS }
/** Maximum number of monetized views per project and address. */
const MONETIZED_VIEWS: Window = { max: 3, windowMs: SIX_HOURS_MS }

export type VisitorCaps = ReturnType<typeof createVisitorCaps>

/** Creates the caps. `secret` must be the same in every process that shares the counters. */
export function createVisitorCaps(deps: { counters: Counters; now: () => number; secret: Uint8Array }) {
  const { counters, now, secret } = deps
  const hashToday = createVisitorHash(secret)
  const hashYesterday = createVisitorHash(secret)

  async function counts(kind: string, address: string, projectId: string, window: Window): Promise<boolean> {
    const nowMs = now()
    // A window that began yesterday was counted under yesterday's key, so only the rest of it is available today. The
    // rest can only grow, so concurrent calls cannot exceed the cap.
    const max = nowMs % DAY_MS < window.windowMs ? window.max - (await countYesterday()) : window.max
    if (max <= 0) return false
    return (await counters.hit(`${kind}:${hashToday(address, nowMs)}:${projectId}`, { ...window, max })).counted

    async function countYesterday(): Promise<number> {
      const key = `${kind}:${hashYesterday(address, nowMs - DAY_MS)}:${projectId}`
      return (await counters.peek(key, window)).count
    }
  }

  return {
    /** Counts a download of the project from this address. Returns false if the cap was already reached. */
    countsDownload: (address: string, projectId: string) => counts('download', address, projectId, DOWNLOADS),
    /** Counts a view of the project from this address. Returns false if the cap was already reached. */
    earnsView: (address: string, projectId: string) => counts('view', address, projectId, MONETIZED_VIEWS),
  }
}
