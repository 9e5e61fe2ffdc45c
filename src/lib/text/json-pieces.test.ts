import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertInPieces, writeJsonArray } from './json-pieces.ts'

/** Returns the result, and how often other work of the process ran in between. */
async function countTurns<T>(act: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const result = await act()
  isDone = true
  return { result, turns }
}

test('other work runs after each 250 rows of a long list', async () => {
  const rows = Array.from({ length: 10_000 }, (_, id) => ({ id, name: `name ${id}` }))
  const { result, turns } = await countTurns(() => writeJsonArray(rows, (row) => row))
  assert.deepEqual(JSON.parse(result.toString()), rows)
  assert.ok(turns >= 39, `${turns} turns`)
})

test('other work runs during a conversion that takes long', async () => {
  const values = Array.from({ length: 160 }, (_, n) => n)
  const { result, turns } = await countTurns(() =>
    convertInPieces(values, (value) => {
      for (const end = performance.now() + 0.5; performance.now() < end; );
      return -value
    }),
  )
  assert.deepEqual(
    result,
    values.map((value) => -value),
  )
  assert.ok(turns >= 9, `${turns} turns`)
})
