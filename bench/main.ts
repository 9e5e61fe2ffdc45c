// `npm run bench [-- NAME...]`: measures, prints a table for each part. Ratios are taken within one run, because
// machines differ and drift; run it on a quiet one.
import { spawn } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { benchIngest } from './analytics/ingest.ts'
import { benchAnnouncements } from './announcements.ts'
import { benchBackup } from './backup/backup.ts'
import { benchBeside } from './beside.ts'
import { benchCatalogue } from './catalogue.ts'
import { benchChanges } from './changes.ts'
import { benchDryRun } from './dry-run.ts'
import { benchHttp } from './http.ts'
import { printTable, type Row } from './kit/table.ts'
import { benchPages } from './pages.ts'
import { benchProcesses } from './processes.ts'
import { benchReads } from './reads/reads.ts'
import { benchResolve } from './resolve/resolve.ts'
import { benchRoutes } from './routes.ts'
import { benchSearchHttp } from './search/http.ts'
import { benchSite } from './site.ts'
import { benchTokens } from './tokens.ts'
import { benchTus } from './tus.ts'
import { benchUploads } from './uploads.ts'
import { benchV2 } from './v2.ts'
import { benchBounded } from './work/bounded.ts'
import { benchMirrors } from './work/mirrors.ts'
import { benchWebhooks } from './work/webhooks.ts'
import { benchWork } from './work/work.ts'

const PARTS: Record<string, { title: string; run: () => Promise<Row[]> }> = {
  http: { title: 'HTTP, uploads, starts', run: benchHttp },
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
  v2: { title: 'The older API against the newer one', run: benchV2 },
  site: { title: 'The public site against the API', run: benchSite },
  pages: { title: 'Cached pages against the API at commit 6d01877', run: benchPages },
  tus: { title: 'Resumable uploads against the form', run: benchTus },
  uploads: { title: 'Uploads through the page against the API', run: benchUploads },
  tokens: { title: 'Exchange of build tokens, and fine-grained tokens', run: benchTokens },
  'dry-run': { title: 'Dry runs against the requests', run: benchDryRun },
  work: { title: 'Pages for publishers, moderators and operators, 20,000 projects', run: benchWork },
  routes: { title: 'The most expensive request of every route', run: benchRoutes },
  bounded: { title: 'Answers for the largest entities', run: benchBounded },
  webhooks: { title: '10,000 deliveries of webhooks to 100 receivers, ten of them dead', run: benchWebhooks },
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

const asked = process.argv.slice(2)
console.log(
  `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB`,
)
for (const [name, { title, run }] of Object.entries(PARTS)) {
  if (asked.length === 0 || asked.includes(name)) printTable(title, await run())
}
for (const [name, script] of Object.entries(ENGINES)) {
  if (asked.length === 0 || asked.includes(name)) await alone(script)
}

/** Runs a program to its end; it prints its own table. */
function alone(script: string): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script)], { stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${script} ended with ${code}`))))
  })
}
