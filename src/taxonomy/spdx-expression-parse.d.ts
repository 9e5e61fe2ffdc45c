// The package has no types.
declare module 'spdx-expression-parse' {
  /** @throws Error if `source` is not an SPDX expression. */
  function parse(source: string): unknown
  export = parse
}
