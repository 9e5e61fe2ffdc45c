// The part of js-yaml that Depot uses. The package has no types.
declare module 'js-yaml' {
  /** Every scalar is a string. */
  export const FAILSAFE_SCHEMA: unique symbol
  /** `json`: the last of several equal keys counts, as in JSON. */
  export function load(text: string, options: { json: boolean; schema: typeof FAILSAFE_SCHEMA }): unknown
}
