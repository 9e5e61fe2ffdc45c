// The part of js-yaml that Depot uses. The package has no types.
declare module 'js-yaml' {
  /** `json`: the last of several equal keys counts, as in JSON. */
  export function load(text: string, options?: { json?: boolean }): unknown
}
