import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

/** Bytes for new objects after many of them have lived for a while. */
function sizeOfYoungHeap(before: string): number {
  const script = `${before}
    const { getHeapSpaceStatistics } = await import('node:v8')
    let kept = []
    for (let n = 0; n < 2_000_000; n += 1) {
      kept.push({ n })
      if (kept.length === 200_000) kept = []
    }
    console.log(getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size)`
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }))
}

test('the part of the heap for new objects stays small', () => {
  const path = JSON.stringify(`${import.meta.dirname}/young-heap.ts`)
  const small = sizeOfYoungHeap(`(await import(${path})).keepYoungHeapSmall()`)
  assert.ok(small <= 2 * 2 ** 20, `${small} bytes`)
  assert.ok(sizeOfYoungHeap('') > 2 * small)
})
