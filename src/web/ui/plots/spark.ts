// A sparkline: a small line next to a number.
import { html, type Part } from '../html.ts'

const HEIGHT = 25

/**
 * Renders a sparkline, oldest value first. Screen readers skip it, because the number next to it has the information.
 * Lists contain many, so that the path has short relative steps: one unit per value, stretched to the width.
 */
export function spark(values: readonly number[]): Part {
  if (values.length < 2) return null
  const max = Math.max(1, ...values)
  const heights = values.map((value) => Math.round(HEIGHT - 1 - (value / max) * (HEIGHT - 2)))
  const steps = heights.slice(1).map((y, index) => y - (heights[index] ?? 0))
  const path = `M0 ${heights[0]}l${steps.map((step) => `1${step < 0 ? '' : ' '}${step}`).join(' ')}`
  return html`<svg class="spark" viewBox="0 0 ${values.length - 1} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true"><path class="fill" d="${path}V${HEIGHT}H0z"/><path d="${path}"/></svg>`
}
