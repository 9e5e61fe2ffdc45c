// Measures Depot. Ratios are taken within one run, because machines differ and drift.
//   npm run bench                        all subjects
//   npm run bench -- reads bounded       some of them
//   npm run bench -- compare COMMIT      this commit against another one, in turn
// Each subject prints a table. On a busy machine, it refuses to run, unless `--busy` permits it.
import { benchCompare } from './compare.ts'
import { busyShare, currentLoad, describeMachine } from './kit/machine.ts'
import { printTable, type Row } from './kit/table.ts'
import { benchReads } from './reads.ts'
import { benchResolve } from './resolve.ts'
import { benchRoutes } from './routes.ts'
import { benchSearch } from './search.ts'
import { benchSite } from './site.ts'
import { benchStart } from './start.ts'
import { benchBounded } from './work/bounded.ts'
import { benchCapacity } from './work/capacity.ts'
import { benchMemory } from './work/memory.ts'
import { benchWork } from './work/work.ts'

const SUBJECTS: Record<string, { title: string; run: () => Promise<Row[]> }> = {
  start: { title: 'Starts, help and an idle server', run: benchStart },
  reads: { title: 'Warm reads as clients send them', run: benchReads },
  resolve: { title: 'Choosing versions for 1,000 items in 20,000 projects', run: benchResolve },
  search: { title: 'Search over HTTP in 200,000 projects', run: benchSearch },
  site: { title: 'The public site against the API', run: benchSite },
  work: { title: 'Pages for publishers, moderators and operators, 20,000 projects', run: benchWork },
  routes: { title: 'The most expensive request of every route', run: benchRoutes },
  bounded: { title: 'Answers for the largest entities', run: benchBounded },
  capacity: { title: 'The costs of docs/operators/capacity.md at 20,000 and 100,000 projects', run: benchCapacity },
  memory: { title: 'Resident memory of an idle server', run: benchMemory },
}

/** Share of the processors that other programs may use. */
const BUSY_MAX = 0.1

const words = process.argv.slice(2)
const mayBeBusy = words.includes('--busy')
const asked = words.filter((word) => !word.startsWith('--'))
const { node, cores, processor, memoryGb, commit } = describeMachine()
console.log(`Commit ${commit}, Node ${node}, ${cores} cores (${processor}), ${memoryGb} GB`)

if (asked[0] === 'compare') {
  const [, other = ''] = asked
  if (other === '') fail('Name the commit to compare with: npm run bench -- compare COMMIT')
  await measure(`This commit against ${other}`, () => benchCompare(other))
} else {
  const unknown = asked.filter((name) => !(name in SUBJECTS))
  if (unknown.length > 0)
    fail(`There is no subject ${unknown.join(', ')}. Subjects: ${Object.keys(SUBJECTS).join(', ')}`)
  for (const [name, { title, run }] of Object.entries(SUBJECTS))
    if (asked.length === 0 || asked.includes(name)) await measure(title, run)
}

function fail(text: string): never {
  console.error(text)
  process.exit(1)
}

async function measure(title: string, run: () => Promise<Row[]>): Promise<void> {
  const busy = await busyShare()
  if (busy > BUSY_MAX && !mayBeBusy)
    fail(
      `Other programs use ${Math.round(busy * 100)} % of the processors, so the results would be wrong. Stop them, or add --busy.`,
    )
  const before = currentLoad()
  printTable(title, await run())
  console.log(`\nLoad before ${before.join(', ')}, after ${currentLoad().join(', ')}`)
}
