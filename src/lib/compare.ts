type Comparable = string | number | bigint | boolean

/** The order of two values for `sort`: texts by UTF-16 code units, whatever the locale; false before true. */
export function compare(a: Comparable, b: Comparable): number {
  return a < b ? -1 : a > b ? 1 : 0
}
