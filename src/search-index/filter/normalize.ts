import { type FilterSource, filterFault, MAX_FILTER_COMPARISONS, MAX_FILTER_NODES, MAX_FILTER_VALUES } from './fault.ts'
import { authorKey } from './fields.ts'
import { EVERYTHING, type Expression, type Filter, type Predicate } from './tree.ts'

const SOURCE: FilterSource = { parameter: 'filters', legacy: false }

/**
 * The conjunction of expressions, brought into the normal form that `Filter` describes.
 * @throws ApiError `invalid_input` when all of them together pass a limit.
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
  return [...new Set(predicate.values.map((value) => (isAuthor ? authorKey(String(value)) : value)))].sort(byValue)
}

function byValue(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function checkLimits(filter: Filter): void {
  let nodes = 0
  let values = 0
  let comparisons = 0
  const visit = (node: Filter): void => {
    nodes += 1
    if (node.kind === 'equals') values += node.values.length
    if (node.kind === 'compare' || (node.kind === 'equals' && node.field.type === 'number')) comparisons += 1
    if (node.kind === 'and' || node.kind === 'or') node.children.forEach(visit)
  }
  visit(filter)
  const fault = (limit: number, what: string) => filterFault(SOURCE, 0, `More than ${limit} ${what} in all`, 'fewer')
  if (nodes > 2 * MAX_FILTER_NODES) throw fault(2 * MAX_FILTER_NODES, 'parts')
  if (values > MAX_FILTER_VALUES) throw fault(MAX_FILTER_VALUES, 'values')
  if (comparisons > MAX_FILTER_COMPARISONS) throw fault(MAX_FILTER_COMPARISONS, 'number comparisons')
}
