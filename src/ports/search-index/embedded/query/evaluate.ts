// A plan evaluated for the whole catalogue, on bits: of documents where no two predicates have to meet on one version,
// of versions where they do, folded to documents once.
import {
  type Bits,
  type BitsPool,
  complement,
  countBits,
  hasBit,
  intersect,
  listBits,
  setBit,
  share,
  unite,
} from '../storage/bits.ts'
import { type DocSet, few } from '../storage/doc-set.ts'
import type { FilterMemory } from './filter-cache.ts'
import { holdsOn, newestHolding, type Plan, type Sources } from './plan.ts'

export type Pools = { readonly docs: BitsPool; readonly versions: BitsPool }

/** With fewer documents than this left by the text, each is asked alone. */
const FEW = 512
/** A predicate on at most one version in this many leads its group: its versions are asked one by one. */
const RARE = 128

/** A filter: its plan, its key in the memory, and the memory. */
export type Asked = { readonly plan: Plan; readonly key: string; readonly memory: FilterMemory }

/** Narrows sets of living documents to those one of whose versions satisfies the plan. */
export function narrow(sets: readonly DocSet[], asked: Asked, sources: Sources, pools: Pools): readonly DocSet[] {
  const { plan, key, memory } = asked
  if (plan.kind === 'and' && plan.children.length === 0) return sets
  const total = sets.reduce((sum, set) => sum + set.count, 0)
  if (total === 0) return sets
  let where = memory.find(key, plan, sources)
  if (where === undefined && total > FEW) {
    where = docsWhere(plan, sources, pools)
    memory.put(key, where, sources)
  }
  return sets.map((set) => (where === undefined ? holding(set, plan, sources) : within(set, where, sources, pools)))
}

/** How many living documents of the set have a version that satisfies the plan. The set stays as it is. */
export function countWithin(set: DocSet, plan: Plan, sources: Sources, pools: Pools): number {
  if (set.count === 0 || (plan.kind === 'and' && plan.children.length === 0)) return set.count
  if (set.count <= FEW) return holding(set, plan, sources).count
  return pools.docs.within(() =>
    pools.versions.within(() => {
      const where = docsWhere(plan, sources, pools)
      if (set.kind === 'few') return set.docs.filter((doc) => hasBit(where, doc)).length
      return share(where, where, set.kind === 'all' ? sources.docs.live : set.bits)
    }),
  )
}

/** Each document asked alone; for few. */
function holding(set: DocSet, plan: Plan, sources: Sources): DocSet {
  const docs = listed(set, sources)
  return few(docs.filter((doc) => newestHolding(plan, sources, doc) !== undefined))
}

function listed(set: DocSet, { docs: { live } }: Sources): readonly number[] {
  if (set.kind === 'few') return set.docs
  return listBits(set.kind === 'all' ? live : set.bits, set.count)
}

function within(set: DocSet, where: Bits, { docs: { live } }: Sources, pools: Pools): DocSet {
  switch (set.kind) {
    case 'few':
      return few(set.docs.filter((doc) => hasBit(where, doc)))
    case 'all': {
      const bits = pools.docs.take()
      return { kind: 'many', bits, count: share(bits, where, live) }
    }
    case 'many':
      return { kind: 'many', bits: set.bits, count: share(set.bits, set.bits, where) }
  }
}

/** The documents, dead ones perhaps included, with a version that satisfies the plan. */
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
  return plan.isProject ? complemented(carrying, sources) : docsLacking(plan, carrying, sources, pools)
}

/** Alternatives that take a pass over the versions take it together. */
function docsWhereAny(children: readonly Plan[], sources: Sources, pools: Pools): Bits {
  const result = pools.docs.take()
  const costly = children.filter((child) => isCostly(child, sources))
  const apart = costly.length > 1 ? children.filter((child) => !costly.includes(child)) : children
  for (const child of apart) pools.docs.within(() => unite(result, docsWhere(child, sources, pools)))
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

/** Documents with a version that lacks every code: all that never carry one, and of the others those that differ. */
function docsLacking(plan: Extract<Plan, { kind: 'codes' }>, carrying: Bits, sources: Sources, pools: Pools): Bits {
  const lacking = pools.docs.take()
  unite(lacking, carrying)
  const candidates = carrying
  complement(lacking, sources.docs.docCount)
  if (countBits(candidates) * 8 > sources.docs.docCount) {
    unite(lacking, fold(versionsWhere(plan, sources, pools), sources, pools))
    return lacking
  }
  for (const doc of listBits(candidates, sources.docs.docCount)) {
    if (newestHolding(plan, sources, doc) !== undefined) setBit(lacking, doc)
  }
  return lacking
}

/** Project predicates hold for all versions alike, so only the others have to meet on one. */
function docsWhereAll(children: readonly Plan[], sources: Sources, pools: Pools): Bits {
  const result = complemented(pools.docs.take(), sources)
  const keep = (find: () => Bits) => pools.docs.within(() => intersect(result, find()))
  for (const child of children) if (child.isProject) keep(() => docsWhere(child, sources, pools))
  const perVersion = children.filter((child) => !child.isProject)
  const [only] = perVersion
  if (perVersion.length === 1 && only !== undefined) keep(() => docsWhere(only, sources, pools))
  if (perVersion.length > 1) keep(() => docsMeeting(perVersion, sources, pools))
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
      if (others.every((other) => holdsOn(other, sources, version, doc))) setBit(result, doc)
    })
  }
  return result
}

/** The predicate that leaves the fewest versions, when these are few. */
function rarest(plans: readonly Plan[], sources: Sources): Extract<Plan, { kind: 'codes' }> | undefined {
  let best: Extract<Plan, { kind: 'codes' }> | undefined
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

/** All versions of the documents. The fewer are set one by one: the documents', or the others' and then all but these. */
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

/** The documents of the versions: after a document's first version the rest of it is skipped. */
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

function rangeBits(plan: Extract<Plan, { kind: 'range' }>, result: Bits, size: number): Bits {
  const { column, min, max, outside, negated } = plan
  // Whole seconds: `floor(x / 1000)` lies within whole bounds where x lies within their milliseconds.
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

function complemented(bits: Bits, sources: Sources): Bits {
  complement(bits, sources.docs.docCount)
  return bits
}
