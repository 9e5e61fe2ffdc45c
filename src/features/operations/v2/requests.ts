// Pieces of requests of the older API: numbers that are cut to their limits, and words in quotes.
import Type from 'typebox'

/** A whole number of a query; whatever lies beyond a limit is cut to it by `clamp`, not refused. */
export const Clamped = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }))

export function clamp(value: number | undefined, range: { fallback: number; min: number; max: number }): number {
  return Math.min(range.max, Math.max(range.min, value ?? range.fallback))
}

/** Some clients send words of a query as JSON texts, with their quotes. */
export function unquote(text: string): string {
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text
}
