// The short form of `npm run fuzz`: every operation with a few generated requests, the same at each run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCampaign } from './campaign.ts'

const SEED = 11
/** Generated requests for each operation and caller. */
const RUNS = 6

test('no generated request gets a 500, an answer that is not declared, or the event loop for itself', async () => {
  const report = await runCampaign({ seed: SEED, runs: RUNS, again: (round) => round === 0 })
  assert.deepEqual(report.findings, [])
  assert.ok(report.requests >= 3_000, `${report.requests} requests to ${report.operations} operations`)
  assert.ok(report.statuses.has(200) && report.statuses.has(204), 'some requests succeed')
})
