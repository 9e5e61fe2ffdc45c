import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inOneLine, wildcardTest, withoutEnd } from './linear-text.ts'

test('removes repetitions of a character at the end', () => {
  assert.equal(withoutEnd('https://a//b//', '/'), 'https://a//b')
  assert.equal(withoutEnd('///', '/'), '')
  assert.equal(withoutEnd('', '0'), '')
})

test('joins lines with single spaces', () => {
  assert.equal(inOneLine(' a  b \n\n  c\r\nd '), 'a  b c d')
})

test('compares whole texts with a pattern', () => {
  const matches = (pattern: string, text: string) => wildcardTest(pattern)(text)
  assert.ok(
    matches('*.json', 'a/b.json') && matches('data/*/x', 'data/a/b/x') && matches('a*', 'a') && matches('*', ''),
  )
  assert.ok(matches('a.b', 'a.b') && matches('a*b*c', 'a b b c') && matches('*b*', 'abc'))
  assert.ok(!matches('a.b', 'axb') && !matches('ab*ba', 'aba') && !matches('a*b*b', 'ab') && !matches('a', 'ab'))
})
