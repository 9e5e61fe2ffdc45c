import { compare } from '#lib/compare.ts'
import { authorKey } from './fields.ts'
import {
  type FilterSource,
  filterError,
  MAX_FILTER_COMPARISONS,
  MAX_FILTER_NODES,
  MAX_FILTER_VALUES,
  MAX_FILTER_VERSION_GROUPS,
} from './filter-error.ts'
import { EVERYTHING, type Expression, type Filter, type Predicate } from './tree.ts'

const SOURCE: FilterSource = { parameter: 'filters', legacy: false }

/**
 * Joins expressions with AND and converts them to the normal form that `Filter` describes.
 * @throws ApiError `invalid_input` if they exceed a limit together.
 */
export function normalize(expressions: readonly Expression[]): Filter {
  const filter = normalizeNode({ kind: 'and', children: expressions }, false)
  checkLimits(filter)
  return filter
}

function normalizeNode(node: Expression, negate: boolean): Filter {
  switch (node.kind) {
    case 'not':
      return normalizeNode(node.child, !negate)
    case 'and':
    case 'or':
      return normalizeGroup(node.kind, node.children, negate)
    case 'equals':
      return { ...node, values: normalizeValues(node), negated: node.negated !== negate }
    default:
      return { ...node, negated: node.negated !== negate }
  }
}

function normalizeGroup(written: 'and' | 'or', children: readonly Expression[], negate: boolean): Filter {
  const kind = negate ? (written === 'and' ? 'or' : 'and') : written
  const unique = new Map<string, Filter>()
  for (const child of children) {
    const filter = normalizeNode(child, negate)
    for (const part of filter.kind === kind ? filter.children : [filter]) unique.set(JSON.stringify(part), part)
  }
  const parts = [...unique.values()]
  return parts.length === 1 ? (parts[0] ?? EVERYTHING) : { kind, children: parts }
}

function normalizeValues(predicate: Extract<Predicate, { kind: 'equals' }>): (string | number)[] {
  const isAuthor = predicate.field.name === 'author'
  return [...new Set(predicate.values.map((value) => (isAuthor ? authorKey(String(value)) : value)))].sort(compare)
}

/** Limits the work of a query. */
function checkLimits(filter: Filter): void {
  const counts = { nodes: 0, values: 0, comparisons: 0, versionGroups: 0 }
  count(filter, counts)
  const check = (number: number, limit: number, what: string) => {
    if (number > limit) throw filterError(SOURCE, 0, `More than ${limit} ${what} in total`, 'fewer')
  }
  check(counts.nodes, 2 * MAX_FILTER_NODES, 'parts')
  check(counts.values, MAX_FILTER_VALUES, 'values')
  check(counts.comparisons, MAX_FILTER_COMPARISONS, 'number comparisons')
  check(counts.versionGroups, MAX_FILTER_VERSION_GROUPS, 'groups with fields of versions')
}

type Counts = { nodes: number; values: number; comparisons: number; versionGroups: number }

/** Adds up the parts of a filter. Returns whether the filter depends on versions. */
function count(node: Filter, counts: Counts): boolean {
  counts.nodes += 1
  if (node.kind === 'and' || node.kind === 'or') {
    const usesVersions = node.children.filter((child) => count(child, counts)).length > 0
    if (usesVersions) counts.versionGroups += 1
    return usesVersions
  }
  if (node.kind === 'equals') counts.values += node.values.length
  if (node.field.type === 'number') counts.comparisons += node.kind === 'equals' ? node.values.length : 1
  return node.field.grain === 'version'
}
