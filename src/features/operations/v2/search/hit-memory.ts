// Hits in their older shape, remembered with the bytes they were made from: as long as the index shows the same bytes, no
// hit is read and written again.
import { LRUCache } from 'lru-cache'
import type { HitPart } from '#ports/search-index/answer-parts.ts'
import { parseOwn } from '../entities.ts'
import { type HitV3, toHitV2 } from './views.ts'

const MAX_BYTES = 16 * 1024 * 1024
/** Rough cost of an entry beside its bytes. */
const OVERHEAD_BYTES = 500

/** The older shape of a hit; both are JSON. */
export type HitMemory = (hit: HitPart) => Buffer

export function createHitMemory(maxBytes: number = MAX_BYTES): HitMemory {
  const known = new LRUCache<string, { source: Buffer; shown: Buffer }>({
    maxSize: maxBytes,
    sizeCalculation: ({ source, shown }) => source.length + shown.length + OVERHEAD_BYTES,
  })
  return ({ head, bytes }) => {
    const found = known.get(head)
    if (found?.source.equals(bytes) === true) return found.shown
    const shown = Buffer.from(JSON.stringify(toHitV2(parseOwn<HitV3>(bytes))))
    // Copies of their own: parts of the answer would keep all of it.
    const key = Buffer.from(head, 'latin1').toString('latin1')
    known.set(key, { source: Buffer.from(bytes), shown })
    return shown
  }
}
