// Shared parts of v2 requests: numbers that are clamped to their limits, and quoted values.
import Type from 'typebox'

/** Integer of a query. `clamp` limits it to the range instead of rejecting it. */
export const Clamped = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }))

export function clamp(value: number | undefined, range: { fallback: number; min: number; max: number }): number {
  return Math.min(range.max, Math.max(range.min, value ?? range.fallback))
}

/** Removes quotes, because some clients send query values as JSON strings. */
export function unquote(text: string): string {
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text
}
