// The documents that match a query: all, a few as a list, or many as bits. Most sets are small, and a short list is cheap
// where bits need a pass over the whole catalogue.
import { type Bits, type BitsPool, claimBits, hasBit, setBit, unite } from './bits.ts'

export type DocSet =
  | { readonly kind: 'all'; readonly count: number }
  | { readonly kind: 'few'; readonly docs: readonly number[]; readonly count: number }
  | { readonly kind: 'many'; readonly bits: Bits; readonly count: number }

/** Slots in any order, possibly with duplicates. */
export type Slots = ArrayLike<number>

/** Maximum number of documents in a list. */
const FEW = 128

export function few(docs: readonly number[]): DocSet {
  return { kind: 'few', docs, count: docs.length }
}

/** Returns the live slots that are not in `seen`, and adds them to `seen`. */
export function claimSlots(slots: Slots, { live, seen }: { live: Bits; seen: Bits }, pool: BitsPool): DocSet {
  const bits = slots.length > FEW ? pool.take() : undefined
  const docs: number[] = []
  let count = 0
  for (let i = 0; i < slots.length; i += 1) {
    const doc = slots[i] ?? 0
    if (!hasBit(live, doc) || hasBit(seen, doc)) continue
    setBit(seen, doc)
    count += 1
    if (bits === undefined) docs.push(doc)
    else setBit(bits, doc)
  }
  return bits === undefined ? few(docs) : { kind: 'many', bits, count }
}

/** As `claimSlots`, for bits, which become the result. */
export function claimSet(bits: Bits, { live, seen }: { live: Bits; seen: Bits }): DocSet {
  return { kind: 'many', bits, count: claimBits(bits, live, seen) }
}

/** Merges disjoint sets. */
export function mergeSets(sets: readonly DocSet[], pool: BitsPool): DocSet {
  const filled = sets.filter((set) => set.count > 0)
  const [only] = filled
  if (only === undefined) return few([])
  if (filled.length === 1) return only
  const bits = pool.take()
  let count = 0
  for (const set of filled) {
    count += set.count
    if (set.kind === 'few') for (const doc of set.docs) setBit(bits, doc)
    if (set.kind === 'many') unite(bits, set.bits)
  }
  return { kind: 'many', bits, count }
}
