// A line as small as a word, beside a number that says what it ends in.
import { scaleLinear } from 'd3-scale'
import { area, line } from 'd3-shape'
import { html, type Part } from '../html.ts'

const WIDTH = 100
const HEIGHT = 25

/** The course of a few numbers, oldest first. It says nothing that is not said beside it: screen readers leave it out. */
export function spark(values: readonly number[]): Part {
  if (values.length < 2) return null
  const x = scaleLinear([0, values.length - 1], [0, WIDTH])
  const y = scaleLinear([0, Math.max(1, ...values)], [HEIGHT - 1, 1])
  const draw = line<number>((_value, index) => x(index), y).digits(1)
  const fill = area<number>((_value, index) => x(index), HEIGHT, y).digits(1)
  return html`<svg class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true"><path class="fill" d="${fill(values) ?? ''}"/><path d="${draw(values) ?? ''}"/></svg>`
}
