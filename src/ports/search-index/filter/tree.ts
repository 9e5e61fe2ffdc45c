// The tree of a filter: `Expression` as the client wrote it, and `Filter`, the normal form for the engines.
import type { Field } from './fields.ts'

export type Comparison = '<' | '<=' | '>' | '>='

/**
 * A test of one field. `negated` is the exact complement, which also matches if the field has no value.
 * - `equals`: one of the values of the field is in `values` (booleans as 'true' and 'false').
 * - `compare`: the field has a number that satisfies the comparison.
 * - `exists`: the field has a value.
 */
export type Predicate =
  | {
      readonly kind: 'equals'
      readonly field: Field
      readonly values: readonly (string | number)[]
      readonly negated: boolean
    }
  | {
      readonly kind: 'compare'
      readonly field: Field
      readonly operator: Comparison
      readonly value: number
      readonly negated: boolean
    }
  | { readonly kind: 'exists'; readonly field: Field; readonly negated: boolean }

export type Expression =
  | { readonly kind: 'and'; readonly children: readonly Expression[] }
  | { readonly kind: 'or'; readonly children: readonly Expression[] }
  | { readonly kind: 'not'; readonly child: Expression }
  | Predicate

/**
 * The normal form: groups of predicates, negation only in predicates, no group directly in a group of its kind, no equal
 * children, lists without duplicates. An empty `and` matches everything.
 *
 * A project matches if one of its versions matches the whole filter; the fields of the project apply to all versions. A
 * project without versions is treated as if it had one version without values.
 */
export type Filter =
  | { readonly kind: 'and'; readonly children: readonly Filter[] }
  | { readonly kind: 'or'; readonly children: readonly Filter[] }
  | Predicate

export const EVERYTHING: Filter = { kind: 'and', children: [] }
