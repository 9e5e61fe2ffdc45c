// Hits in their older shape, remembered with the bytes they were made from: as long as the index shows the same bytes, no
// hit is read and written again.
import { LRUCache } from 'lru-cache'
import { parseOwn } from '../entities.ts'
import { type HitV3, toHitV2 } from './views.ts'

const MAX_BYTES = 16 * 1024 * 1024
/** Rough cost of an entry beside its bytes. */
const OVERHEAD_BYTES = 500

/** The older shape of a hit, from its bytes; both are JSON. */
export type HitMemory = (hit: Buffer) => Buffer

export function createHitMemory(maxBytes: number = MAX_BYTES): HitMemory {
  const known = new LRUCache<string, { source: Buffer; shown: Buffer }>({
    maxSize: maxBytes,
    sizeCalculation: ({ source, shown }) => source.length + shown.length + OVERHEAD_BYTES,
  })
  return (hit) => {
    const key = keyOf(hit)
    const found = known.get(key)
    if (found?.source.equals(hit) === true) return found.shown
    const shown = Buffer.from(JSON.stringify(toHitV2(parseOwn<HitV3>(hit))))
    // A copy of the hit's own: a part of the answer would keep all of it.
    known.set(key, { source: Buffer.from(hit), shown })
    return shown
  }
}

const PROJECT = '"project_id":"'
const ID_LENGTH_MAX = 11

/** Which version of which project the hit names: what stands before and shortly behind the project's key. */
function keyOf(hit: Buffer): string {
  return hit.toString('latin1', 0, hit.indexOf(PROJECT) + PROJECT.length + ID_LENGTH_MAX)
}
