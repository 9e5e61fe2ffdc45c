// The short form of `npm run fuzz`: every operation with a few generated requests, the same at each run; on a machine that
// is too busy for all of them within the time, as many operations as it gets to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCampaign } from './campaign.ts'

const SEED = 11
/** Generated requests for each operation and caller. */
const RUNS = 3
const TIME_MS = 40_000

test('no generated request gets a 500, an answer that is not declared, or the event loop for itself', async () => {
  const endsAt = Date.now() + TIME_MS
  const again = (round: number): boolean => round === 0 && Date.now() < endsAt
  const report = await runCampaign({ seed: SEED, runs: RUNS, again })
  assert.deepEqual(report.findings, [])
  assert.ok(report.requests > 0 && report.statuses.has(200), `${report.requests} requests, and some succeed`)
})
