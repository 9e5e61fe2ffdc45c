// The package brings no types of its own.
declare module 'spdx-expression-parse' {
  /** @throws Error when `source` is no SPDX expression. */
  function parse(source: string): unknown
  export = parse
}
