// Hits in their older shape, remembered with the bytes they were made from: as long as the index shows the same bytes, no
// hit is read and written again.
import { ByteLru, type LruNode } from '#cache/lru.ts'
import { parseOwn } from '../entities.ts'
import { type HitV3, toHitV2 } from './views.ts'

const MAX_BYTES = 16 * 1024 * 1024
/** Rough cost of an entry beside its bytes. */
const OVERHEAD_BYTES = 500

type Remembered = LruNode & { source: Buffer; shown: Buffer }

/** The older shape of a hit, from its bytes; both are JSON. */
export type HitMemory = (hit: Buffer) => Buffer

export function createHitMemory(maxBytes: number = MAX_BYTES): HitMemory {
  const lru = new ByteLru(maxBytes)
  const known = new Map<string, Remembered>()
  return (hit) => {
    const key = keyOf(hit)
    const found = known.get(key)
    if (found?.source.equals(hit) === true) {
      lru.touch(found)
      return found.shown
    }
    if (found !== undefined) lru.remove(found)
    const shown = Buffer.from(JSON.stringify(toHitV2(parseOwn<HitV3>(hit))))
    // The answer's own memory is used again, or let go.
    const source = Buffer.from(hit)
    const bytes = source.length + shown.length + OVERHEAD_BYTES
    const entry: Remembered = {
      source,
      shown,
      bytes,
      older: undefined,
      newer: undefined,
      evicted: () => known.delete(key),
    }
    known.set(key, entry)
    lru.add(entry)
    return shown
  }
}

const PROJECT = '"project_id":"'
const ID_LENGTH_MAX = 11

/** Which version of which project the hit names: what stands before and shortly behind the project's key. */
function keyOf(hit: Buffer): string {
  return hit.toString('latin1', 0, hit.indexOf(PROJECT) + PROJECT.length + ID_LENGTH_MAX)
}
