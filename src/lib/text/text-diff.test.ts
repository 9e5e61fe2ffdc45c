import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diffText, type TextPart } from './text-diff.ts'

const textOf = (parts: readonly TextPart[], side: 'added' | 'removed'): string =>
  parts
    .filter(({ change }) => change === 'same' || change === side)
    .map(({ text }) => text)
    .join('')
const marked = (before: string, after: string): string =>
  diffText(before, after)
    .map(({ change, text }) => (change === 'same' ? text : change === 'added' ? `{+${text}+}` : `{-${text}-}`))
    .join('')

test('changed words are marked, and the lines around them are unchanged', () => {
  assert.equal(
    marked('One.\nThe tone shows ores.\n', 'One.\nThe tone shows gold.\n'),
    'One.\nThe tone shows {-ores-}{+gold+}.\n',
  )
  assert.equal(marked('a\nb\n', 'a\nnew\nb\n'), 'a\n{+new\n+}b\n')
  assert.equal(marked('# Test', 'A new text'), '{-# Test-}{+A new text+}')
  assert.equal(
    marked('It shows one big lamp.', 'It shows two small lamps.'),
    'It shows {-one big lamp-}{+two small lamps+}.',
  )
  assert.equal(marked('日本 x', '日本 y'), '日本 {-x-}{+y+}')
  assert.deepEqual(diffText('', ''), [])
  assert.deepEqual(diffText('same', 'same'), [{ change: 'same', text: 'same' }])
  assert.deepEqual(diffText('', 'new'), [{ change: 'added', text: 'new' }])
  assert.deepEqual(diffText('old', ''), [{ change: 'removed', text: 'old' }])
})

test('texts of 64 KiB that have nothing in common are compared in bounded time, and both stay complete', () => {
  const shapes = {
    words: (seed: string, n: number) => `${seed}${n % 97} `,
    lines: (seed: string, n: number) => `${seed}${n % 89}\n`,
    letters: (seed: string, n: number) => (n % 2 === 0 ? seed : '\n'),
    signs: (seed: string, n: number) => (n % 3 === 0 ? seed : ['!', '?'][n % 2]) ?? '',
  }
  for (const [name, shape] of Object.entries(shapes)) {
    const make = (seed: string) =>
      Array.from({ length: 20_000 }, (_, n) => shape(seed, n))
        .join('')
        .slice(0, 65_536)
    const [before, after] = [make('ab'), make('ba')]
    const start = performance.now()
    const parts = diffText(before, after)
    // About 50 times the usual time, for busy machines.
    assert.ok(performance.now() - start < 5000, name)
    assert.equal(textOf(parts, 'removed'), before)
    assert.equal(textOf(parts, 'added'), after)
  }
})
