// The short form of `npm run fuzz`: one generated request per operation, and some with repeated characters, the same in each run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryGrowth, runCampaign } from './campaign.ts'
import { repeatCharacters } from './repeats.ts'

const SEED = 11
/** The first round, and some at random. */
const REPEATS = 1_500

test('no generated request gets a 500, an answer that is not declared, or the event loop for itself', async () => {
  const report = await runCampaign({ seed: SEED, runs: 1, oneCaller: true, again: (round) => round === 0 })
  assert.deepEqual(report.findings, [])
  assert.equal(report.covered, report.operations)
  assert.ok(report.requests >= report.operations && report.statuses.has(200), `${report.requests} requests`)
})

test('no repeated character holds the event loop', async () => {
  const { requests, findings } = await repeatCharacters({ seed: SEED, again: (sent) => sent < REPEATS })
  assert.deepEqual(findings, [])
  assert.equal(requests, REPEATS)
})

test('memory that grows is seen, and memory that is taken once is not', () => {
  const mib = (...sizes: number[]) => ({ memory: sizes.map((size) => size * 1024 * 1024) })
  assert.equal(memoryGrowth(mib(50, 100, 100, 100, 100, 100, 100)), 0)
  assert.equal(memoryGrowth(mib(50, 100, 110, 120, 130, 140, 150)), 40 * 1024 * 1024)
  assert.equal(memoryGrowth(mib(50, 100)), 0)
})
