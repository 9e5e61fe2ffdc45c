// How much one address can add to a count. Addresses are known here only as hashes whose key changes each day.

import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import type { Counters, Window } from '#ports/counters/counters.ts'
import { createVisitorHash } from './visitor-hash.ts'

const SIX_HOURS_MS = 6 * HOUR_MS
/** At most this many downloads of one project count for one address. */
const DOWNLOADS: Window = { max: 6, windowMs: SIX_HOURS_MS }
/** The first few views of a project earn money. */
const MONETIZED_VIEWS: Window = { max: 3, windowMs: SIX_HOURS_MS }

export type VisitorCaps = {
  /** Whether one more download of the project counts for this address; asking counts it. */
  countsDownload(address: string, projectId: string): Promise<boolean>
  /** Whether one more view of the project earns money; asking counts it. */
  earnsView(address: string, projectId: string): Promise<boolean>
}

/** `secret` stays the same for as long as the counters do, in every process that shares them. */
export function createVisitorCaps({
  counters,
  now,
  secret,
}: {
  counters: Counters
  now: () => number
  secret: Uint8Array
}): VisitorCaps {
  const hashToday = createVisitorHash(secret)
  const hashYesterday = createVisitorHash(secret)

  async function counts(kind: string, address: string, projectId: string, window: Window): Promise<boolean> {
    const nowMs = now()
    // A window that began yesterday was counted under yesterday's key; today has what that leaves. It can only become
    // more, so calls at the same moment do not count more than the window allows together.
    const max = nowMs % DAY_MS < window.windowMs ? window.max - (await countYesterday()) : window.max
    if (max <= 0) return false
    return (await counters.hit(`${kind}:${hashToday(address, nowMs)}:${projectId}`, { ...window, max })).counted

    async function countYesterday(): Promise<number> {
      const key = `${kind}:${hashYesterday(address, nowMs - DAY_MS)}:${projectId}`
      return (await counters.peek(key, window)).count
    }
  }

  return {
    countsDownload: (address, projectId) => counts('download', address, projectId, DOWNLOADS),
    earnsView: (address, projectId) => counts('view', address, projectId, MONETIZED_VIEWS),
  }
}
