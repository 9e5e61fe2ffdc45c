// The typed tree of a filter. `Expression` is what a client wrote; `Filter` is the normal form every engine is given.
import type { Field } from './fields.ts'

export type Comparison = '<' | '<=' | '>' | '>='

/**
 * One test of one field. `negated` is the exact complement: it also holds where the field has no value.
 * - `equals`: one of the field's values is one of `values` (booleans as 'true' and 'false').
 * - `compare`: the field has a number and it compares so.
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
 * The normal form: conjunctions and disjunctions over predicates, negation only inside predicates, no group directly
 * inside a group of its kind, no two equal children, lists without duplicates. An empty conjunction holds everywhere.
 *
 * It is evaluated on each version of a project, where a project's own fields count for all of its versions; a project
 * matches when one version makes the whole filter true (a project without versions counts as having one without values).
 */
export type Filter =
  | { readonly kind: 'and'; readonly children: readonly Filter[] }
  | { readonly kind: 'or'; readonly children: readonly Filter[] }
  | Predicate

export const EVERYTHING: Filter = { kind: 'and', children: [] }
