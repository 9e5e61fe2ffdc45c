type Comparable = string | number | bigint | boolean

/** Compares two values for `sort`: strings by UTF-16 code units, independent of the locale; false before true. */
export function compare(a: Comparable, b: Comparable): number {
  return a < b ? -1 : a > b ? 1 : 0
}
