import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf, placed, projectNameIn } from './order.ts'

test('items move to their places, and items with the same place keep their order', () => {
  const list = ['a', 'b', 'c', 'd', 'e']
  assert.deepEqual(placed(list, new Map()), list)
  assert.deepEqual(placed(list, new Map([['e', 0]])), ['e', 'a', 'b', 'c', 'd'])
  assert.deepEqual(placed(list, new Map([['a', 4]])), ['b', 'c', 'd', 'e', 'a'])
  const both = new Map([
    ['e', 1],
    ['d', 1],
  ])
  assert.deepEqual(placed(list, both), ['a', 'd', 'e', 'b', 'c'])
  const swap = new Map([
    ['a', 1],
    ['b', 0],
  ])
  assert.deepEqual(placed(list, swap), ['b', 'a', 'c', 'd', 'e'])
  assert.deepEqual(placed(['a'], new Map([['b', 0]])), ['a'], 'an item that is not in the list is not added')
  assert.deepEqual(placed(list, new Map([['b', 99]])).at(-1), 'b')
})

test('a line names a project by ID, slug or URL of this instance', () => {
  const site = 'https://depot.test/mirror'
  const name = (line: string) => projectNameIn(line, site)
  assert.equal(name('AbCdEfGh'), 'AbCdEfGh')
  assert.equal(name('  lantern.of-the_deep '), 'lantern.of-the_deep')
  assert.equal(name('https://depot.test/mirror/mod/lantern'), 'lantern')
  assert.equal(name('https://depot.test/mirror/mod/lantern/versions?v=1#top'), 'lantern')
  assert.equal(name('http://depot.test/mirror/project/AbCdEfGh'), 'AbCdEfGh')
  assert.equal(name('depot.test/mirror/shader/glow'), 'glow')
  assert.equal(name('/mirror/plugin/gate'), 'gate')
  assert.equal(name('https://depot.test/mirror/v3/project/AbCdEfGh/version'), 'AbCdEfGh')
  const wrong = [
    'https://depot.test/mod/lantern',
    'https://elsewhere.test/mirror/mod/lantern',
    'https://depot.test/mirror/user/lantern',
    'https://depot.test/mirror/mod/',
    'https://depot.test/mirror/mod/..',
    'https://',
    'two words',
    'javascript://depot.test/%0aalert(1)',
    'x'.repeat(65),
    '..',
  ]
  for (const line of wrong) assert.equal(name(line), undefined, line)
})

test('blank and repeated lines are omitted', () => {
  assert.deepEqual(linesOf(' a \n\n\tb\na\n'), ['a', 'b'])
  assert.deepEqual(linesOf(''), [])
})
