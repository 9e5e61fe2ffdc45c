import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

/** Bytes for new objects once many of them have lived for a while; the least of some looks, as pages come and go. */
function sizeOfYoungHeap(before: string): number {
  const script = `${before}
    const { getHeapSpaceStatistics } = await import('node:v8')
    const sizes = []
    for (let round = 0; round < 10; round += 1) {
      const kept = []
      for (let n = 0; n < 200_000; n += 1) kept.push({ n })
      sizes.push(getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size)
    }
    console.log(Math.min(...sizes.slice(5)))`
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }))
}

test('the part of the heap for new objects stays small', () => {
  const path = JSON.stringify(`${import.meta.dirname}/young-heap.ts`)
  const small = sizeOfYoungHeap(`await (await import(${path})).withSmallYoungHeap(async () => {})()`)
  const usual = sizeOfYoungHeap('')
  assert.ok(small <= 4 * 2 ** 20 && usual > small, `${small} and ${usual} bytes`)
})
