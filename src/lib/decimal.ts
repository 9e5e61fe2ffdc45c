// Amounts of money, exact: whole units of 10⁻⁸ as a bigint inside, decimal text outside. Never a float.

import { compare } from './compare.ts'

/** Digits after the point that an amount may have. */
const PLACES = 8
const UNIT = 10n ** BigInt(PLACES)

/** An amount as clients send it: not negative, at most 12 digits before the point and 8 after. */
export const AMOUNT_PATTERN = `^\\d{1,12}(\\.\\d{1,${PLACES}})?$`

/** Parses a decimal text, such as a numeric column. @throws RangeError if it is invalid or has more than 8 places. */
export function parseUnits(text: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  const fraction = (match?.[3] ?? '').replace(/0+$/, '')
  if (match === null || fraction.length > PLACES) throw new RangeError('Not a decimal with at most 8 places')
  const units = BigInt(match[2] ?? 0) * UNIT + BigInt(fraction.padEnd(PLACES, '0'))
  return match[1] === '-' ? -units : units
}

/** Units as decimal text without exponent: at least two places, no zeros after those. */
export function formatUnits(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(PLACES + 1, '0')
  const fraction = digits.slice(-PLACES).replace(/0+$/, '').padEnd(2, '0')
  return `${units < 0n ? '-' : ''}${digits.slice(0, -PLACES)}.${fraction}`
}

/** Formats a decimal text for responses. */
export function toAmount(text: string): string {
  return formatUnits(parseUnits(text))
}

/** `units` × `share`, a decimal text from 0 to 1, rounded down. */
export function shareOf(units: bigint, share: string): bigint {
  return (units * parseUnits(share)) / UNIT
}

/**
 * Splits `total` in proportion to the weights so that the parts add up to exactly `total`: each part is rounded down,
 * and the units that are left go one each to the largest remainders, to the first of equal ones. If all weights
 * are 0, all parts are 0.
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
