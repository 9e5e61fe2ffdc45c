// The hues of projects and instances. The style sheet has a class for each.

const STEP = 15

/** The hues that the style sheet has, in degrees. */
export const HUES: readonly number[] = Array.from({ length: 360 / STEP }, (_, index) => index * STEP)

/** Returns the class of the nearest hue: `h0` to `h345`. */
export function classOfHue(degrees: number): string {
  return `h${(((Math.round(degrees / STEP) * STEP) % 360) + 360) % 360}`
}
