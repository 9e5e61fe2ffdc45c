import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { createDrawSvg } from './draw-svg.ts'
import { ScaleError } from './scale.ts'

const RULES = { maxPixels: 4096 * 4096, width: 96, square: true }
const svg = (width: number, height: number, inner = '') =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${inner}</svg>`)

test('a drawing comes back as pixels at the size it is shown in', async () => {
  const { width, height, data } = await createDrawSvg()(
    svg(400, 200, '<rect width="400" height="200" fill="#f00"/>'),
    RULES,
    { field: 'icon' },
  )
  assert.deepEqual([width, height, data.length, [...data.subarray(0, 4)]], [96, 48, 96 * 48 * 4, [255, 0, 0, 255]])
})

test('rejects the same input as the library, with the same message', async () => {
  const kindOf = (bytes: Buffer) =>
    createDrawSvg()(bytes, RULES, { field: 'icon' }).then(
      () => 'drawn',
      (error: unknown) => (error instanceof ScaleError ? error.kind : error),
    )
  assert.equal(await kindOf(svg(90_000, 90_000)), 'too_many_pixels')
  assert.equal(await kindOf(svg(0, 0)), 'undecodable')
})

// Drawing a line with this number of letters takes the library minutes.
const SLOW = svg(96, 96, `<text font-size="90">${'M'.repeat(60_000)}</text>`)

test('a drawing that takes too much processor time is rejected, its process ended, and the next one is drawn', async () => {
  await assert.rejects(createDrawSvg({ cpuMs: 400, waitMs: 600_000 })(SLOW, RULES, { field: 'icon' }), {
    kind: 'invalid_input',
    message: 'The SVG takes too long to draw',
    details: { field: 'icon', message: 'The SVG takes too long to draw' },
  })
  assert.equal((await createDrawSvg()(svg(8, 8), RULES, { field: 'icon' })).width, 8)
})

test('a drawing that does not get its processor time is not to blame: 503, to be tried again', async () => {
  await assert.rejects(createDrawSvg({ cpuMs: 600_000, waitMs: 400 })(SLOW, RULES, { field: 'icon' }), (error) => {
    assert.ok(error instanceof ApiError && error.kind === 'service_unavailable')
    assert.deepEqual(error.headers, { 'retry-after': '1' })
    return true
  })
})
