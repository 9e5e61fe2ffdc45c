import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertValidHtml, samplePage } from '#test/support/http/html-page.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { fieldDiff, textDiff, wordDiff } from './diff.ts'

const page = samplePage()
const words = (before: string, after: string): string => String(html`${wordDiff(before, after)}`)

test('marks the words that differ, with the space outside', () => {
  assert.equal(
    words('It shows every ore nearby.', 'It reaches eight blocks nearby.'),
    'It <del>shows every ore</del> <ins>reaches eight blocks</ins> nearby.',
  )
  assert.equal(words('', 'New'), '<ins>New</ins>')
  assert.equal(words('Same text', 'Same text'), 'Same text')
  assert.equal(words('<b>', '<i>'), '<del>&lt;b&gt;</del><ins>&lt;i&gt;</ins>')
})

test('collapses unchanged paragraphs and compares similar ones by word', () => {
  const before = ['One', 'Two', 'The tone shows every ore', 'Removed completely'].join('\n\n')
  const after = ['One', 'Two', 'The tone shows some stone', 'Another sentence'].join('\n\n')
  const text = String(textDiff(page, before, after))
  assert.match(text, /2 unchanged paragraphs/)
  assert.match(text, /The tone shows <del>every ore<\/del> ?<ins>some stone<\/ins>/)
  assert.match(text, /<p><del>Removed completely<\/del><\/p>/)
  assert.match(text, /<p><ins>Another sentence<\/ins><\/p>/)
})

test('texts that are too long to compare are replaced as a whole, in little time', () => {
  const many = (word: string): string => Array.from({ length: 20_000 }, (_, index) => `${word}${index}`).join(' ')
  const text = words(many('a'), many('b'))
  assert.equal(text.match(/<(del|ins)>/g)?.length, 2)
})

test('the table of fields is valid', () => {
  const rows = [{ label: '<b>', before: '<i>', after: wordDiff('a', '</td>') }]
  const table = fieldDiff(page, { caption: '"', before: 'Approved', after: 'Now', rows })
  assertValidHtml(layout(page, { title: 'Test', body: table }))
})
