// `npm run fuzz [-- --minutes N --seed S --runs R --only REGEX --kind KIND]`: generated requests, then requests with repeated
// characters, each for half of the time; KIND is `generated` or `repeats` for only one of them. Findings are printed as they
// come, and end the program with 1; the same seed gives the same requests.
import { parseArgs } from 'node:util'
import { memoryGrowth, runCampaign } from './campaign.ts'
import { repeatCharacters } from './repeats.ts'

const MIB = 1024 * 1024
/** Caches are bounded, and all other memory of a request is freed. */
const MEMORY_GROWTH_MAX = 64 * MIB

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '15' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    runs: { type: 'string', default: '8' },
    only: { type: 'string', default: '' },
    kind: { type: 'string', default: '' },
  },
})

const seed = Number(values.seed)
const kinds = ['generated', 'repeats'].filter((kind) => values.kind === '' || kind === values.kind)
const durationMs = (Number(values.minutes) * 60_000) / kinds.length
console.log(`seed ${seed}, ${values.minutes} minutes`)
const results = []
if (kinds.includes('generated')) results.push(await sendGenerated())
if (kinds.includes('repeats')) results.push(await sendRepeats())
process.exit(results.includes(false) ? 1 : 0)

async function sendGenerated(): Promise<boolean> {
  const endsAt = Date.now() + durationMs
  const report = await runCampaign({
    seed,
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
  return report.findings.length === 0 && growth <= MEMORY_GROWTH_MAX
}

async function sendRepeats(): Promise<boolean> {
  const endsAt = Date.now() + durationMs
  const { requests, routes, findings } = await repeatCharacters({
    seed,
    again: () => Date.now() < endsAt,
    onFinding: (finding) => console.log(`\n${finding}`),
  })
  console.log(`\n${requests} requests with repeated characters to ${routes} routes, ${findings.length} findings`)
  return findings.length === 0
}
