// A sparkline: a small line next to a number.
import { scaleLinear } from 'd3-scale'
import { area, line } from 'd3-shape'
import { html, type Part } from '../html.ts'

const WIDTH = 100
const HEIGHT = 25

/** Renders a sparkline, oldest value first. Screen readers skip it, because the number next to it has the information. */
export function spark(values: readonly number[]): Part {
  if (values.length < 2) return null
  const x = scaleLinear([0, values.length - 1], [0, WIDTH])
  const y = scaleLinear([0, Math.max(1, ...values)], [HEIGHT - 1, 1])
  const draw = line<number>((_value, index) => x(index), y).digits(1)
  const fill = area<number>((_value, index) => x(index), HEIGHT, y).digits(1)
  return html`<svg class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true"><path class="fill" d="${fill(values) ?? ''}"/><path d="${draw(values) ?? ''}"/></svg>`
}
