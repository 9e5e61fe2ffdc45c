// Exact amounts of money: a bigint in units of 10⁻⁸ for calculations, a decimal string in requests and responses.

import { compare } from './compare.ts'
import { withoutEnd } from './text/linear-text.ts'

/** Maximum number of decimal places of an amount. */
const PLACES = 8
const UNIT = 10n ** BigInt(PLACES)

/** Pattern of an amount in a request: not negative, at most 12 digits before the point and 8 after it. */
export const AMOUNT_PATTERN = `^\\d{1,12}(\\.\\d{1,${PLACES}})?$`

/** Parses a decimal string, such as a numeric column. @throws RangeError if it is invalid or has more than 8 places. */
export function parseUnits(text: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  const fraction = withoutEnd(match?.[3] ?? '', '0')
  if (match === null || fraction.length > PLACES) throw new RangeError('Not a decimal with at most 8 places')
  const units = BigInt(match[2] ?? 0) * UNIT + BigInt(fraction.padEnd(PLACES, '0'))
  return match[1] === '-' ? -units : units
}

/** Formats units as a decimal string without exponent: at least 2 decimal places, without further trailing zeros. */
export function formatUnits(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(PLACES + 1, '0')
  const fraction = withoutEnd(digits.slice(-PLACES), '0').padEnd(2, '0')
  return `${units < 0n ? '-' : ''}${digits.slice(0, -PLACES)}.${fraction}`
}

/** Formats a decimal string for responses. */
export function toAmount(text: string): string {
  return formatUnits(parseUnits(text))
}

/** Returns `units` × `share`, rounded down. `share` is a decimal string from 0 to 1. */
export function shareOf(units: bigint, share: string): bigint {
  return (units * parseUnits(share)) / UNIT
}

/**
 * Splits `total` in proportion to the weights, so that the sum of the parts is exactly `total`. Each part is rounded down.
 * The parts with the largest remainders receive one more unit each; of equal remainders, the first. If all weights are 0,
 * all parts are 0.
 */
export function splitUnits(total: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((a, b) => a + b, 0n)
  if (sum === 0n) return weights.map(() => 0n)
  const parts = weights.map((weight) => (total * weight) / sum)
  const remainders = weights.map((weight) => (total * weight) % sum)
  let left = total - parts.reduce((a, b) => a + b, 0n)
  const order = weights.map((_, i) => i).sort((a, b) => compare(remainders[b] ?? 0n, remainders[a] ?? 0n) || a - b)
  for (const i of order) {
    if (left === 0n) break
    parts[i] = (parts[i] ?? 0n) + 1n
    left -= 1n
  }
  return parts
}
