// Evaluates a plan for the whole catalogue with bit sets: sets of documents, or sets of versions if two predicates must
// match the same version. The versions are then converted to documents.
import {
  type Bits,
  type BitsPool,
  complement,
  countBits,
  hasBit,
  intersect,
  intersection,
  listBits,
  setBit,
  unite,
} from '../storage/bits.ts'
import { type DocSet, few } from '../storage/doc-set.ts'
import type { FilterCache } from './filter-cache.ts'
import { type CodesPlan, firstMatch, matches, type Plan, type RangePlan, type Sources } from './plan.ts'

export type Pools = { readonly docs: BitsPool; readonly versions: BitsPool }

/** Up to this many documents are evaluated one by one. */
const FEW = 512
/** A predicate that at most one version in 128 matches leads its group: these versions are evaluated one by one. */
const RARE = 128

/** A filter: its plan and its key in the cache. */
export type PlannedFilter = { readonly plan: Plan; readonly key: string; readonly cache: FilterCache }

/** Reduces sets of live documents to those with a version that matches the plan. */
export function narrow(
  sets: readonly DocSet[],
  filter: PlannedFilter,
  sources: Sources,
  pools: Pools,
): readonly DocSet[] {
  const { plan, key, cache } = filter
  if (plan.kind === 'and' && plan.children.length === 0) return sets
  const total = sets.reduce((sum, set) => sum + set.count, 0)
  if (total === 0) return sets
  let where = cache.find(key, plan, sources)
  if (where === undefined && total > FEW) {
    where = docsWhere(plan, sources, pools)
    cache.put(key, where, sources)
  }
  return sets.map((set) => (where === undefined ? matching(set, plan, sources) : within(set, where, sources, pools)))
}

/** Counts the live documents of the set with a version that matches the plan. Does not change the set. */
export function countWithin(set: DocSet, plan: Plan, sources: Sources, pools: Pools): number {
  if (set.count === 0 || (plan.kind === 'and' && plan.children.length === 0)) return set.count
  if (set.count <= FEW) return matching(set, plan, sources).count
  return pools.docs.within(() =>
    pools.versions.within(() => {
      const where = docsWhere(plan, sources, pools)
      if (set.kind === 'few') return set.docs.filter((doc) => hasBit(where, doc)).length
      return intersection(where, where, set.kind === 'all' ? sources.docs.live : set.bits)
    }),
  )
}

/** Evaluates each document. */
function matching(set: DocSet, plan: Plan, sources: Sources): DocSet {
  const { live } = sources.docs
  const docs = set.kind === 'few' ? set.docs : listBits(set.kind === 'all' ? live : set.bits, set.count)
  return few(docs.filter((doc) => firstMatch(plan, sources, doc) !== undefined))
}

function within(set: DocSet, where: Bits, { docs: { live } }: Sources, pools: Pools): DocSet {
  switch (set.kind) {
    case 'few':
      return few(set.docs.filter((doc) => hasBit(where, doc)))
    case 'all': {
      const bits = pools.docs.take()
      return { kind: 'many', bits, count: intersection(bits, where, live) }
    }
    case 'many':
      return { kind: 'many', bits: set.bits, count: intersection(set.bits, set.bits, where) }
  }
}

/** Returns the documents, possibly including dead ones, with a version that matches the plan. */
export function docsWhere(plan: Plan, sources: Sources, pools: Pools): Bits {
  if (plan.kind === 'or') return docsWhereAny(plan.children, sources, pools)
  if (plan.kind === 'and') return docsWhereAll(plan.children, sources, pools)
  if (plan.kind === 'range') {
    if (!plan.isProject) return fold(versionsWhere(plan, sources, pools), sources, pools)
    return rangeBits(plan, pools.docs.take(), sources.docs.docCount)
  }
  const carrying = pools.docs.take()
  for (const code of plan.codes) sources.facets.docs.uniteInto(code, carrying)
  if (!plan.negated) return carrying
  return plan.isProject ? complement(carrying, sources.docs.docCount) : docsLacking(plan, carrying, sources, pools)
}

/** Alternatives that need a pass over the versions share one pass. */
function docsWhereAny(children: readonly Plan[], sources: Sources, pools: Pools): Bits {
  const result = pools.docs.take()
  const costly = children.filter((child) => isCostly(child, sources))
  const separate = costly.length > 1 ? children.filter((child) => !costly.includes(child)) : children
  for (const child of separate) pools.docs.within(() => unite(result, docsWhere(child, sources, pools)))
  if (costly.length > 1) {
    const together: Plan = { kind: 'or', children: costly, isProject: false }
    pools.docs.within(() => unite(result, fold(versionsWhere(together, sources, pools), sources, pools)))
  }
  return result
}

function isCostly(plan: Plan, sources: Sources): boolean {
  if (plan.isProject) return false
  if (plan.kind === 'codes') return plan.negated
  if (plan.kind !== 'and') return true
  const perVersion = plan.children.filter((child) => !child.isProject)
  const [only] = perVersion
  if (perVersion.length === 1 && only !== undefined) return isCostly(only, sources)
  return rarest(perVersion, sources) === undefined
}

/** Returns documents with a version without any of the codes. `carrying`: documents with a code on some version. */
function docsLacking(plan: CodesPlan, carrying: Bits, sources: Sources, pools: Pools): Bits {
  const { docCount } = sources.docs
  const lacking = complement(unite(pools.docs.take(), carrying), docCount)
  if (countBits(carrying) * 8 > docCount)
    return unite(lacking, fold(versionsWhere(plan, sources, pools), sources, pools))
  for (const doc of listBits(carrying, docCount)) {
    if (firstMatch(plan, sources, doc) !== undefined) setBit(lacking, doc)
  }
  return lacking
}

/** Only version predicates must match the same version; project predicates match all versions or none. */
function docsWhereAll(children: readonly Plan[], sources: Sources, pools: Pools): Bits {
  const result = complement(pools.docs.take(), sources.docs.docCount)
  const restrict = (find: () => Bits) => pools.docs.within(() => intersect(result, find()))
  for (const child of children) if (child.isProject) restrict(() => docsWhere(child, sources, pools))
  const perVersion = children.filter((child) => !child.isProject)
  const [only] = perVersion
  if (perVersion.length === 1 && only !== undefined) restrict(() => docsWhere(only, sources, pools))
  if (perVersion.length > 1) restrict(() => docsMeeting(perVersion, sources, pools))
  return result
}

function docsMeeting(plans: readonly Plan[], sources: Sources, pools: Pools): Bits {
  const lead = rarest(plans, sources)
  if (lead === undefined) {
    const both = versionsWhere({ kind: 'and', children: plans, isProject: false }, sources, pools)
    return fold(both, sources, pools)
  }
  const others = plans.filter((plan) => plan !== lead)
  const result = pools.docs.take()
  const { docOfVersion } = sources.docs
  for (const code of lead.codes) {
    sources.facets.versions.forEach(code, (version) => {
      const doc = docOfVersion[version] ?? 0
      if (others.every((other) => matches(other, sources, version, doc))) setBit(result, doc)
    })
  }
  return result
}

/** Returns the predicate that the fewest versions match, if they are few. */
function rarest(plans: readonly Plan[], sources: Sources): CodesPlan | undefined {
  let best: CodesPlan | undefined
  let least = sources.docs.versionCount / RARE
  for (const plan of plans) {
    if (plan.kind !== 'codes' || plan.negated) continue
    const count = plan.codes.reduce((sum, code) => sum + sources.facets.versions.count(code), 0)
    if (count > least) continue
    best = plan
    least = count
  }
  return best
}

function versionsWhere(plan: Plan, sources: Sources, pools: Pools): Bits {
  const result = pools.versions.take()
  if (plan.kind === 'and' || plan.kind === 'or') {
    const combine = plan.kind === 'and' ? intersect : unite
    for (const [i, child] of plan.children.entries()) {
      pools.versions.within(() => {
        const part = versionsWhere(child, sources, pools)
        if (i === 0) unite(result, part)
        else combine(result, part)
      })
    }
    return result
  }
  if (plan.isProject) {
    pools.docs.within(() => spread(docsWhere(plan, sources, pools), result, sources))
    return result
  }
  if (plan.kind === 'range') return rangeBits(plan, result, sources.docs.versionCount)
  for (const code of plan.codes) sources.facets.versions.uniteInto(code, result)
  if (plan.negated) complement(result, sources.docs.versionCount)
  return result
}

/** Adds all versions of the documents. If these are most documents, it sets the others and inverts the result. */
function spread(docs: Bits, result: Bits, sources: Sources): void {
  const { docCount, versionCount, versionStart } = sources.docs
  const isMost = countBits(docs) * 2 > docCount
  if (isMost) complement(docs, docCount)
  for (let w = 0; w < docs.length; w += 1) {
    for (let x = docs[w] ?? 0; x !== 0; x &= x - 1) {
      const doc = w * 32 + 31 - Math.clz32(x & -x)
      const end = versionStart[doc + 1] ?? 0
      for (let version = versionStart[doc] ?? 0; version < end; version += 1) setBit(result, version)
    }
  }
  if (isMost) complement(result, versionCount)
}

/** Returns the documents of the versions. Skips the other versions of a document after the first. */
function fold(versions: Bits, sources: Sources, pools: Pools): Bits {
  const result = pools.docs.take()
  const { docOfVersion, versionStart } = sources.docs
  let next = 0
  for (let w = 0; w < versions.length; w += 1) {
    let x = versions[w] ?? 0
    if (next > w * 32) x = next - w * 32 >= 32 ? 0 : x & (-1 << (next & 31))
    while (x !== 0) {
      const doc = docOfVersion[w * 32 + 31 - Math.clz32(x & -x)] ?? 0
      result[doc >>> 5] = (result[doc >>> 5] ?? 0) | (1 << (doc & 31))
      next = versionStart[doc + 1] ?? 0
      x = next - w * 32 >= 32 ? 0 : x & (-1 << (next & 31))
    }
  }
  return result
}

function rangeBits(plan: RangePlan, result: Bits, size: number): Bits {
  const { column, min, max, outside, negated } = plan
  // Compares milliseconds instead of dividing each number by 1000.
  const low = plan.divisor === 1 ? min : Math.ceil(min) * plan.divisor
  const high = plan.divisor === 1 ? max : (Math.floor(max) + 1) * plan.divisor - 1
  for (let start = 0; start < size; start += 32) {
    let word = 0
    const end = Math.min(32, size - start)
    for (let bit = 0; bit < end; bit += 1) {
      const x = column[start + bit] ?? Number.NaN
      const isIn = x >= low && x <= high
      if ((isIn !== outside && !Number.isNaN(x)) !== negated) word |= 1 << bit
    }
    result[start >>> 5] = word
  }
  return result
}
