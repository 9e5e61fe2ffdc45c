// Normalises the case of filter values, because v2 clients send them in any case.

import type { Predicate } from '#ports/search-index/filter/tree.ts'
import { listLicenses } from '#taxonomy/licenses.ts'

/** Fields whose values are lower-case terms of the taxonomy. */
const LOWER_CASE = new Set([
  'project_types',
  'all_project_types',
  'categories',
  'project_categories',
  'loaders',
  'client_side',
  'server_side',
  'environment',
])

/** Returns a function that changes the values of a predicate to their stored case. */
export function caseFolder(): (predicate: Predicate) => Predicate {
  const licenses = new Map(listLicenses().map(({ short }) => [short.toLowerCase(), short]))
  const fold = (name: string, value: string | number): string | number => {
    if (typeof value !== 'string') return value
    if (name === 'license') return licenses.get(value.toLowerCase()) ?? value
    return LOWER_CASE.has(name) ? value.toLowerCase() : value
  }
  return (predicate) =>
    predicate.kind === 'equals'
      ? { ...predicate, values: predicate.values.map((value) => fold(predicate.field.name, value)) }
      : predicate
}
