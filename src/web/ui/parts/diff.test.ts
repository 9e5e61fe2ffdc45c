import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diffText } from '#lib/text/text-diff.ts'
import { assertValidHtml, samplePage } from '#test/support/http/html-page.ts'
import { layout } from '../layout.ts'
import { fieldDiff, marked, textDiff } from './diff.ts'

const page = samplePage()
const shown = (before: string, after: string): string => String(textDiff(page, diffText(before, after)))

test('marks the words that differ, with markup as text', () => {
  const text = shown('It shows every ore nearby.', 'It reaches eight blocks nearby.')
  assert.match(text, /<p dir="auto">It <del>shows every ore<\/del> <ins>reaches eight blocks<\/ins> nearby\.<\/p>/)
  assert.match(shown('', 'New'), /<ins>New<\/ins>/)
  assert.ok(!/<(ins|del)>/.test(shown('Same text', 'Same text')))
  assert.ok(!shown('<b>', '<i>').includes('<i>'))
})

test('collapses unchanged paragraphs and keeps changed ones apart', () => {
  const before = ['One', 'Two', 'The tone shows every ore', 'Three', 'Removed completely', ''].join('\n\n')
  const after = ['One', 'Two', 'The tone shows some stone', 'Three', ''].join('\n\n')
  const text = shown(before, after)
  assert.match(text, /2 unchanged paragraphs/)
  assert.match(text, /<p dir="auto">The tone shows <del>every ore<\/del> <ins>some stone<\/ins><\/p>/)
  assert.match(text, /<p dir="auto"><del>Removed completely<\/del><\/p>/)
})

test('the table of fields is valid and names missing values', () => {
  const rows = [{ label: '<b>', before: [], after: [marked({ change: 'added', text: '</td>' })] }]
  const table = String(fieldDiff(page, { before: 'Approved', after: 'Now', rows }))
  assert.match(table, /<td class="soft">None<\/td><td dir="auto"><ins>&lt;\/td&gt;<\/ins><\/td>/)
  assertValidHtml(layout(page, { title: 'Test', body: fieldDiff(page, { before: 'Approved', after: 'Now', rows }) }))
})
