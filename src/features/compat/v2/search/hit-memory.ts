// Search hits in the format of the v2 API, cached with the v3 hit that they were made from. A hit is converted again when
// the index returns different content.
import { MIB } from '#lib/text/sizes.ts'
import { defineCache } from '#platform/cache/definitions.ts'
import type { EntityCache } from '#platform/cache/entity-cache.ts'
import type { RememberDefinition } from '#platform/cache/remembered.ts'
import type { HitPart } from '#ports/search-index/hit.ts'
import { toHitV2 } from './views.ts'

const HIT = defineCache<RememberDefinition<{ source: Buffer; converted: Buffer }>>({
  name: 'search-hit-v2',
  contains: 'Search hit in the format of the v2 API, by its content',
  maxBytes: 16 * MIB,
  sizeOf: ({ source, converted }) => source.length + converted.length + 100,
})

/** Returns a hit in the format of the v2 API. Both are JSON. */
export type HitMemory = (hit: HitPart) => Buffer

export function createHitMemory(cache: EntityCache): HitMemory {
  const hits = cache.remember(HIT)
  return ({ head, bytes }) => {
    const hit = hits.peek(head)
    if (hit?.source.equals(bytes) === true) return hit.converted
    const converted = Buffer.from(JSON.stringify(toHitV2(JSON.parse(bytes.toString()))))
    // Copies, because a part of the response would keep the whole response in memory.
    const key = Buffer.from(head, 'latin1').toString('latin1')
    hits.store(key, { source: Buffer.from(bytes), converted })
    return converted
  }
}
