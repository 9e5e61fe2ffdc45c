import assert from 'node:assert/strict'
import { test } from 'node:test'
import { depot } from '#test/support/running-depot.ts'

test('capacity opens nothing, says what is full, and refuses what is no number', async () => {
  // A folder that cannot be: nothing is looked for in it.
  const nowhere = '/dev/null/nowhere'
  const small = await depot(nowhere, ['capacity'])
  assert.equal(small.code, 0, small.stderr)
  assert.match(small.stdout, /^One machine with everything embedded is enough/)
  const large = await depot(nowhere, ['capacity', '--versions', '100000000', '--reads-per-second', '50000', '--json'])
  const plan = JSON.parse(large.stdout)
  assert.ok(plan.machines > 1)
  assert.deepEqual(
    plan.parts.map(({ share }: { share: number }) => share),
    plan.parts.map(({ share }: { share: number }) => share).toSorted((a: number, b: number) => b - a),
  )
  const wrong = await depot(nowhere, ['capacity', '--projects', 'many'])
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /--projects must be a whole number/)
})
