// A plan: a filter whose values are resolved to codes and columns. This file evaluates it for one version; evaluate.ts
// evaluates it for all documents or all versions together.
import type { Filter, Predicate } from '#ports/search-index/filter/tree.ts'
import type { DocTable } from '../parts/doc-table.ts'
import type { FacetIndex } from '../parts/facet-index.ts'

/**
 * `isProject`: the plan does not depend on versions. `codes` matches if the slot has one of the codes. `range` matches if
 * the number in the column is from `min` to `max` (`outside`: if there is a number outside of them). `negated` inverts
 * the result.
 */
export type Plan =
  | (PlanBase & { readonly kind: 'and'; readonly children: readonly Plan[] })
  | (PlanBase & { readonly kind: 'or'; readonly children: readonly Plan[] })
  | CodesPlan
  | RangePlan
export type CodesPlan = PlanBase & {
  readonly kind: 'codes'
  readonly codes: readonly number[]
  readonly negated: boolean
}
export type RangePlan = PlanBase & {
  readonly kind: 'range'
  readonly column: Float64Array
  /** Numbers are divided by this and rounded down: milliseconds to seconds. */
  readonly divisor: number
  readonly min: number
  readonly max: number
  readonly outside: boolean
  readonly negated: boolean
}
type PlanBase = { readonly isProject: boolean }

export type Sources = { readonly docs: DocTable; readonly facets: FacetIndex }

export function makePlan(filter: Filter, sources: Sources): Plan {
  if (filter.kind !== 'and' && filter.kind !== 'or') return planPredicate(filter, sources)
  return group(
    filter.kind,
    filter.children.map((child) => makePlan(child, sources)),
  )
}

function group(kind: 'and' | 'or', children: readonly Plan[]): Plan {
  return { kind, children, isProject: children.every((child) => child.isProject) }
}

function planPredicate(predicate: Predicate, sources: Sources): Plan {
  const { field, negated } = predicate
  const isProject = field.grain === 'project'
  if (field.type === 'number') return planNumber(predicate, sources)
  if (predicate.kind === 'exists') {
    const any = sources.facets.anyCode(field.name)
    return { kind: 'codes', codes: any < 0 ? [] : [any], negated, isProject }
  }
  const values = predicate.kind === 'equals' ? predicate.values.map(String) : []
  return { kind: 'codes', codes: sources.facets.codes(field.name, values), negated, isProject }
}

function planNumber(predicate: Predicate, sources: Sources): Plan {
  const { column, divisor } = numberColumn(predicate.field.name, sources)
  const range = (bounds: { min: number; max: number; outside?: boolean }): Plan => ({
    kind: 'range',
    column,
    divisor,
    min: bounds.min,
    max: bounds.max,
    outside: bounds.outside ?? false,
    negated: predicate.negated,
    isProject: predicate.field.grain === 'project',
  })
  if (predicate.kind === 'exists') return range({ min: -Infinity, max: Infinity })
  if (predicate.kind === 'equals') {
    const each = predicate.values.map((value) => range({ min: Number(value), max: Number(value) }))
    return group(predicate.negated ? 'and' : 'or', each)
  }
  const { operator, value } = predicate
  // `< v` means "has a number that is not >= v", so that no largest number below v is needed.
  const isUp = operator === '>=' || operator === '<'
  const bounds = isUp ? { min: value, max: Infinity } : { min: -Infinity, max: value }
  return range({ ...bounds, outside: operator === '<' || operator === '>' })
}

function numberColumn(field: string, { docs, facets }: Sources): { column: Float64Array; divisor: number } {
  switch (field) {
    case 'downloads':
    case 'follows':
      return { column: docs.columns[field], divisor: 1 }
    case 'created_timestamp':
      return { column: docs.columns.created, divisor: 1000 }
    case 'modified_timestamp':
      return { column: docs.columns.modified, divisor: 1000 }
    case 'version_published_timestamp':
      return { column: docs.published, divisor: 1000 }
    default:
      return { column: facets.numbers(field), divisor: 1 }
  }
}

export function inRange(plan: RangePlan, slot: number): boolean {
  const stored = plan.column[slot] ?? Number.NaN
  const x = plan.divisor === 1 ? stored : Math.floor(stored / plan.divisor)
  return (!Number.isNaN(x) && (x >= plan.min && x <= plan.max) !== plan.outside) !== plan.negated
}

/** Whether the plan depends on counts, which can change without a new slot. */
export function usesCounts(plan: Plan, sources: Sources): boolean {
  if (plan.kind === 'and' || plan.kind === 'or') return plan.children.some((child) => usesCounts(child, sources))
  const { downloads, follows } = sources.docs.columns
  return plan.kind === 'range' && (plan.column === downloads || plan.column === follows)
}

/** Whether one version of a document matches the plan. */
export function matches(plan: Plan, sources: Sources, version: number, doc: number): boolean {
  switch (plan.kind) {
    case 'and':
      return plan.children.every((child) => matches(child, sources, version, doc))
    case 'or':
      return plan.children.some((child) => matches(child, sources, version, doc))
    case 'range':
      return inRange(plan, plan.isProject ? doc : version)
    case 'codes': {
      const postings = plan.isProject ? sources.facets.docs : sources.facets.versions
      const slot = plan.isProject ? doc : version
      return plan.codes.some((code) => postings.has(code, slot)) !== plan.negated
    }
  }
}

/** Returns the first version of a document that matches the plan. */
export function firstMatch(plan: Plan, sources: Sources, doc: number): number | undefined {
  const end = sources.docs.versionStart[doc + 1] ?? 0
  for (let version = sources.docs.versionStart[doc] ?? 0; version < end; version += 1) {
    if (matches(plan, sources, version, doc)) return version
  }
  return undefined
}
