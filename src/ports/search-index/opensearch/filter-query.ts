// Converts a filter to OpenSearch queries. Predicates on versions become a nested query, which one version must match.
import { type ApiError, invalidInput } from '#lib/errors.ts'
import type { Filter, Predicate } from '../filter/tree.ts'
import { facet, numberName } from './documents.ts'
import type { Query } from './text-query.ts'

/** A conjunction: predicates on the project, and predicates that one version must match. */
type Branch = { readonly project: readonly Filter[]; readonly version: readonly Filter[] }

export type FilterQuery = {
  readonly query: Query
  /** Number of nested queries, one of which selects the version of a hit; 0 if the filter does not depend on versions. */
  readonly branches: number
}

/** A nested query cannot use fields of the project, so the alternatives of both kinds in a conjunction multiply. */
const MAX_BRANCHES = 64

/** @throws ApiError `invalid_input` if there are too many alternatives between fields of projects and of versions. */
export function filterQuery(filter: Filter): FilterQuery {
  if (!uses(filter, 'version')) return { query: toQuery(filter, ''), branches: 0 }
  const branches = branchesOf(filter)
  const [only] = branches
  if (branches.length === 1 && only !== undefined) return { query: { bool: branchQuery(only, 0) }, branches: 1 }
  // A hit has inner hits of every branch. The names show for which branches the project matches as well.
  const should = branches.map((branch, i) => ({ bool: { _name: branchName(i), ...branchQuery(branch, i) } }))
  return { query: { bool: { should, minimum_should_match: 1 } }, branches: branches.length }
}

export function branchName(i: number): string {
  return `branch-${i}`
}

/** Returns the filter as a disjunction of branches. */
function branchesOf(filter: Filter): readonly Branch[] {
  const isGroup = filter.kind === 'and' || filter.kind === 'or'
  if (!uses(filter, 'version')) return [{ project: [filter], version: [] }]
  if (!isGroup || !uses(filter, 'project')) return [{ project: [], version: [filter] }]
  if (filter.kind === 'or') return filter.children.length === 0 ? [] : alternatives(filter.children)
  return filter.children.map(branchesOf).reduce((product, next) => {
    if (product.length * next.length > MAX_BRANCHES) {
      throw invalidInput(
        'The filter has too many alternatives between fields of projects and of versions; use fewer',
        'filters',
      )
    }
    return product.flatMap((a) =>
      next.map((b) => ({ project: [...a.project, ...b.project], version: [...a.version, ...b.version] })),
    )
  })
}

function alternatives(children: readonly Filter[]): readonly Branch[] {
  const ofProject = children.filter((child) => !uses(child, 'version'))
  const ofVersions = children.filter((child) => uses(child, 'version') && !uses(child, 'project'))
  const mixed = children.filter((child) => uses(child, 'version') && uses(child, 'project'))
  return [
    ...(ofProject.length === 0 ? [] : [{ project: [or(ofProject)], version: [] }]),
    ...(ofVersions.length === 0 ? [] : [{ project: [], version: [or(ofVersions)] }]),
    ...mixed.flatMap(branchesOf),
  ]
}

function or(children: readonly Filter[]): Filter {
  return { kind: 'or', children }
}

function branchQuery({ project, version }: Branch, i: number): Query {
  const nested = {
    path: 'versions',
    query: toQuery({ kind: 'and', children: version }, 'versions.'),
    score_mode: 'none',
    inner_hits: {
      name: branchName(i),
      size: 1,
      _source: false,
      // The response contains the ID as a sort value.
      sort: [{ 'versions.place': 'asc' }, { 'versions.version_id': 'asc' }],
    },
  }
  return { filter: [...project.map((each) => toQuery(each, '')), { nested }] }
}

function uses(filter: Filter, grain: 'project' | 'version'): boolean {
  if (filter.kind === 'and' || filter.kind === 'or') return filter.children.some((child) => uses(child, grain))
  return filter.field.grain === grain
}

function toQuery(filter: Filter, path: string): Query {
  if (filter.kind === 'and' || filter.kind === 'or') return group(filter.kind, filter.children, path)
  const query = test(filter, path)
  return filter.negated ? { bool: { must_not: [query] } } : query
}

function group(kind: 'and' | 'or', children: readonly Filter[], path: string): Query {
  const groups = children.filter((child) => child.kind === 'and' || child.kind === 'or')
  const predicates = children.filter((child) => child.kind !== 'and' && child.kind !== 'or')
  // Joins tests of text fields in one clause, because OpenSearch limits the number of clauses.
  const isJoined = (predicate: Predicate) => isFacet(predicate) && predicate.negated === (kind === 'and')
  const joined = predicates.filter(isJoined).flatMap(facetTerms)
  const any = joined.length === 0 ? [] : [anyFacet(joined, path)]
  const rest = [...predicates.filter((each) => !isJoined(each)), ...groups].map((each) => toQuery(each, path))
  if (kind === 'and') return { bool: { filter: rest, must_not: any } }
  const should = [...any, ...rest]
  return should.length === 0 ? { match_none: {} } : { bool: { should, minimum_should_match: 1 } }
}

/** Returns the query of a predicate without its negation. */
function test(predicate: Predicate, path: string): Query {
  if (isFacet(predicate)) return anyFacet(facetTerms(predicate), path)
  const field = `${path}numbers.${numberName(predicate.field.name)}`
  if (predicate.kind === 'exists') return { exists: { field } }
  if (predicate.kind === 'equals') return { terms: { [field]: predicate.values } }
  return { range: { [field]: { [RANGES[predicate.operator]]: predicate.value } } }
}

const RANGES = { '<': 'lt', '<=': 'lte', '>': 'gt', '>=': 'gte' } as const

function isFacet({ field }: Predicate): boolean {
  return field.type !== 'number'
}

function facetTerms(predicate: Predicate): string[] {
  const { name } = predicate.field
  return predicate.kind === 'equals' ? predicate.values.map((value) => facet(name, String(value))) : [name]
}

function anyFacet(facets: readonly string[], path: string): Query {
  return { terms: { [`${path}facets`]: [...new Set(facets)] } }
}

/** Returns the error for a filter that exceeds `indices.query.bool.max_clause_count` of OpenSearch. */
export function tooManyClauses(cause: unknown): ApiError {
  return Object.assign(
    invalidInput('The filter has more clauses than the search engine accepts; use fewer values or groups', 'filters'),
    { cause },
  )
}
