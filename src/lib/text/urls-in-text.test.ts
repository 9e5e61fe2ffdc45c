import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replaceUrls, urlsIn } from './urls-in-text.ts'

const source = { page: 'https://code.test/blob/', raw: 'https://raw.test/' }
const text =
  '![a](img/a.png "A") ![b](<img/b c.png>) <img src="./d.png"> [e]: f.png\n![g](/data/g.png) https://h.test/h.png'

test('relative images are found and replaced in the forms of Markdown and HTML', () => {
  const urls = urlsIn(text, source).map(({ url }) => url)
  const relative = ['img/a.png', 'img/b%20c.png', 'd.png', 'f.png'].map((path) => `https://raw.test/${path}`)
  assert.deepEqual([...new Set(urls)], [...relative, 'https://h.test/h.png'])
  const copies = new Map([...relative, 'https://h.test/h.png'].map((url, index) => [url, `https://own.test/${index}`]))
  assert.equal(
    replaceUrls(text, copies, source),
    '![a](https://own.test/0 "A") ![b](https://own.test/1) <img src="https://own.test/2"> [e]: https://own.test/3\n![g](/data/g.png) https://own.test/4',
  )
  assert.deepEqual(
    urlsIn(text).map(({ url }) => url),
    ['https://h.test/h.png'],
  )
})
