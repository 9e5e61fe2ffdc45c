import assert from 'node:assert/strict'
import { test } from 'node:test'
import { galleryImage } from './gallery-image.ts'

const shown = { sizes: '100vw', defaultSize: { width: 960, height: 540 } }
const item = {
  url: 'https://d.test/a_350.webp',
  raw_url: 'https://d.test/a.png',
  width: 900,
  height: 600,
  sizes: [
    { url: 'https://d.test/a_350.webp', width: 350, height: 233 },
    { url: 'https://d.test/a_700.webp', width: 700, height: 467 },
  ],
  featured: false,
  name: null,
  title: null,
  description: null,
  created: '2026-01-01T00:00:00.000Z',
  ordering: 0,
  video: null,
}

test('browsers choose between the copies and the original image, unless the original is too large for a page', () => {
  assert.equal(
    String(galleryImage(item, shown)),
    ' src="https://d.test/a_350.webp" srcset="https://d.test/a_350.webp 350w, https://d.test/a_700.webp 700w, https://d.test/a.png 900w" sizes="100vw" width="900" height="600"',
  )
  assert.doesNotMatch(String(galleryImage({ ...item, width: 5000, height: 3000 }, shown)), /a\.png/)
})

test('a single copy has no srcset, and an image without a size gets the default size', () => {
  assert.equal(
    String(galleryImage({ ...item, width: null, height: null, sizes: [] }, shown)),
    ' src="https://d.test/a_350.webp" width="960" height="540"',
  )
})
