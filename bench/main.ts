// Measures Depot. Ratios are taken within one run, because machines differ and drift.
//   npm run bench                        all subjects
//   npm run bench -- reads bounded       some of them
//   npm run bench -- compare COMMIT      this commit against another one, in turn
// Each subject prints a table and writes `bench/results/SUBJECT.json`, from which `npm run gen` draws the plots of
// docs/operators/performance.md. On a busy machine, it refuses to run; with `--busy` it runs and writes nothing.
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchIngest } from './analytics/ingest.ts'
import { benchAnnouncements } from './announcements.ts'
import { benchBackup } from './backup/backup.ts'
import { benchBeside } from './beside.ts'
import { benchBulk } from './bulk/bulk.ts'
import { benchCatalogue } from './catalogue.ts'
import { benchChanges } from './changes.ts'
import { benchCompare, benchReference } from './compare/compare.ts'
import { benchDryRun } from './dry-run.ts'
import { benchHttp } from './http.ts'
import { busyShare, currentLoad, describeMachine } from './kit/machine.ts'
import { printTable, type Row } from './kit/table.ts'
import { benchPages } from './pages.ts'
import { benchProcesses } from './processes.ts'
import { benchReads } from './reads/reads.ts'
import { benchResolve } from './resolve/resolve.ts'
import { benchRoutes } from './routes.ts'
import { benchSearchBuild } from './search/build.ts'
import { benchSearchHttp } from './search/http.ts'
import { benchSite } from './site.ts'
import { benchStart } from './start/start.ts'
import { benchTokens } from './tokens.ts'
import { benchTus } from './tus.ts'
import { benchUploads } from './uploads.ts'
import { benchV2 } from './v2.ts'
import { benchBounded } from './work/bounded.ts'
import { benchCapacity } from './work/capacity.ts'
import { benchMemory } from './work/memory.ts'
import { benchMirrors } from './work/mirrors.ts'
import { benchWebhooks } from './work/webhooks.ts'
import { benchWork } from './work/work.ts'

const PARTS: Record<string, { title: string; run: () => Promise<Row[]> }> = {
  start: { title: 'Starts, help and an idle server', run: benchStart },
  http: { title: 'HTTP, uploads', run: benchHttp },
  reference: { title: 'Speed as a multiple of the reference, computed from commit 6d01877', run: benchReference },
  reads: { title: 'Warm reads as clients send them', run: benchReads },
  catalogue: { title: 'The catalogue at size', run: benchCatalogue },
  changes: { title: 'The change feed', run: benchChanges },
  mirrors: { title: 'A mirror of 100 projects', run: benchMirrors },
  resolve: { title: 'Choosing versions for 1,000 items in 20,000 projects', run: benchResolve },
  announcements: { title: 'Announcing changes', run: benchAnnouncements },
  backup: { title: 'Backup, restore, verify', run: () => benchBackup() },
  ingest: { title: 'Event ingestion during reads', run: benchIngest },
  processes: { title: 'Two HTTP processes against one', run: benchProcesses },
  'search-http': { title: 'Search over HTTP', run: () => benchSearchHttp() },
  'search-build': { title: 'The first build of the search index', run: () => benchSearchBuild() },
  v2: { title: 'The older API against the newer one', run: benchV2 },
  site: { title: 'The public site against the API', run: benchSite },
  pages: { title: 'Cached pages against the API at commit 6d01877', run: benchPages },
  tus: { title: 'Resumable uploads against the form', run: benchTus },
  uploads: { title: 'Uploads through the page against the API', run: benchUploads },
  tokens: { title: 'Exchange of build tokens, and fine-grained tokens', run: benchTokens },
  'dry-run': { title: 'Dry runs against the requests', run: benchDryRun },
  bulk: { title: 'Update checks and versions by 1,000 hashes', run: benchBulk },
  work: { title: 'Pages for publishers, moderators and operators, 20,000 projects', run: benchWork },
  routes: { title: 'The most expensive request of every route', run: benchRoutes },
  bounded: { title: 'Answers for the largest entities', run: benchBounded },
  webhooks: { title: '10,000 deliveries of webhooks to 100 receivers, ten of them dead', run: benchWebhooks },
  capacity: { title: 'The costs of docs/operators/capacity.md at 20,000 and 100,000 projects', run: benchCapacity },
  memory: { title: 'Resident memory of an idle server', run: benchMemory },
  load: { title: 'Readers during expensive requests, and many connections', run: benchBeside },
}

/** Engines at full size and models, each in a separate process, because its memory is part of the measurement. */
const ENGINES: Record<string, string> = {
  search: 'search/search.ts',
  'search-opensearch': 'search/opensearch.ts',
  analytics: 'analytics/analytics.ts',
  clickhouse: 'analytics/clickhouse.ts',
  engines: 'engines.ts',
  'cache-model': 'cache-model.ts',
  runtime: 'runtime.ts',
}

/** Share of the processors that other programs may use. */
const BUSY_MAX = 0.1
const RESULTS = join(import.meta.dirname, 'results')

const words = process.argv.slice(2)
const mayBeBusy = words.includes('--busy')
const asked = words.filter((word) => !word.startsWith('--'))
const machine = describeMachine()
const { node, cores, processor, memoryGb, commit } = machine
console.log(`Commit ${commit}, Node ${node}, ${cores} cores (${processor}), ${memoryGb} GB`)

if (asked[0] === 'compare') {
  const [, other = ''] = asked
  if (other === '') fail('Name the commit to compare with: npm run bench -- compare COMMIT')
  await measure('compare', `This commit against ${other}`, () => benchCompare(other))
} else {
  const unknown = asked.filter((name) => !(name in PARTS) && !(name in ENGINES))
  if (unknown.length > 0)
    fail(`There is no subject ${unknown.join(', ')}. Subjects: ${Object.keys({ ...PARTS, ...ENGINES }).join(', ')}`)
  const isAsked = (name: string) => asked.length === 0 || asked.includes(name)
  for (const [name, { title, run }] of Object.entries(PARTS)) if (isAsked(name)) await measure(name, title, run)
  for (const [name, script] of Object.entries(ENGINES)) if (isAsked(name)) await alone(script)
}

function fail(text: string): never {
  console.error(text)
  process.exit(1)
}

async function measure(name: string, title: string, run: () => Promise<Row[]>): Promise<void> {
  const busy = await busyShare()
  if (busy > BUSY_MAX && !mayBeBusy)
    fail(
      `Other programs use ${Math.round(busy * 100)} % of the processors, so the results would be wrong. Stop them, or add --busy.`,
    )
  const [time, before] = [new Date().toISOString(), currentLoad()]
  const rows = await run()
  printTable(title, rows)
  console.log(`\nLoad before ${before.join(', ')}, after ${currentLoad().join(', ')}`)
  if (mayBeBusy) return
  mkdirSync(RESULTS, { recursive: true })
  const result = { title, time, machine, load: { before, after: currentLoad() }, rows }
  writeFileSync(join(RESULTS, `${name}.json`), `${JSON.stringify(result, undefined, 2)}\n`)
}

/** Runs a program to its end; it prints its own table. */
function alone(script: string): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script)], { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${script} ended with ${code}`))))
  })
}
