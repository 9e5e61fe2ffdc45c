// `npm run fuzz [-- --minutes N --seed S --runs R --only REGEX]`: generated requests for as long as wanted. Findings are
// printed as they come, and end the program with 1; the same seed gives the same requests.
import { parseArgs } from 'node:util'
import { memoryGrowth, runCampaign } from './campaign.ts'

const MIB = 1024 * 1024
/** Caches are bounded, and all other memory of a request is freed. */
const MEMORY_GROWTH_MAX = 64 * MIB

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '15' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    runs: { type: 'string', default: '8' },
    only: { type: 'string', default: '' },
  },
})

const endsAt = Date.now() + Number(values.minutes) * 60_000
console.log(`seed ${values.seed}, ${values.minutes} minutes`)
const report = await runCampaign({
  seed: Number(values.seed),
  runs: Number(values.runs),
  again: () => Date.now() < endsAt,
  only: new RegExp(values.only),
  onFinding: ({ operationId, caller, problem, request }) =>
    console.log(`\n${operationId} as ${caller}: ${problem}\n  ${request}`),
})
const growth = memoryGrowth(report)
console.log(
  `\n${report.requests} requests to ${report.covered} of ${report.operations} operations, ${report.findings.length} findings`,
)
console.log(
  `answers: ${[...report.statuses]
    .sort()
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')}`,
)
console.log(`memory, MiB: ${report.memory.map((bytes) => Math.round(bytes / MIB)).join(', ')}`)
console.log(`the last third is ${(growth / MIB).toFixed(1)} MiB above the first`)
process.exit(report.findings.length > 0 || growth > MEMORY_GROWTH_MAX ? 1 : 0)
