// Compares the names and labels in the Prometheus alerts, the Grafana dashboard and the document with the metrics of a
// running application.
// A server also sends webhooks, whose metrics are declared by this import.
import '#cli/server/run-server.ts'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { enqueue } from '#platform/jobs/queue.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import { observeSpool } from '#ports/analytics-store/observe-events.ts'
import { observeSearch } from '#ports/search-index/observe-search.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Name → its labels, of every metric there can be. */
const known = new Map<string, readonly string[]>()
let t: TestApp
let own: string[] = []
before(async () => {
  t = await testApp()
  // Only with ClickHouse there is a spool.
  observeSpool(t.deps.metrics, () => ({ batches: 0, bytes: 0, refused: 0 }))
  const ofProcess = new Registry()
  collectDefaultMetrics({ register: ofProcess })
  for (const registry of [t.deps.metrics.registry, ofProcess]) {
    for (const { name, type } of await registry.getMetricsAsJSON()) {
      const { labelNames = [] } = registry.getSingleMetric(name) as unknown as { labelNames?: string[] }
      known.set(name, labelNames)
      if (String(type) === 'histogram') {
        known.set(`${name}_bucket`, [...labelNames, 'le'])
        for (const part of ['_sum', '_count']) known.set(`${name}${part}`, labelNames)
      }
    }
  }
  own = (await t.deps.metrics.registry.getMetricsAsJSON()).map(({ name }) => name)
})
after(() => t.close())

/** Labels that Prometheus adds to scraped metrics. */
const SCRAPED = ['instance', 'job']

/** Lists the problems of an expression: unknown metrics, and labels that none of its metrics has. */
function problemsOf(expression: string): string[] {
  const problems: string[] = []
  const labelsOfAll = new Set<string>(SCRAPED)
  for (const [, name = '', selector = ''] of expression.matchAll(
    /\b((?:depot|nodejs|process)_[a-z0-9_]+|up)\b(\{[^}]*\})?/g,
  )) {
    const labels = name === 'up' ? [] : known.get(name)
    if (labels === undefined) problems.push(`there is no metric ${name}`)
    for (const label of labels ?? []) labelsOfAll.add(label)
    for (const [, label = ''] of selector.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)\s*"/g)) {
      if (![...(labels ?? []), ...SCRAPED].includes(label)) problems.push(`${name} has no label ${label}`)
    }
  }
  for (const [, list = ''] of expression.matchAll(/\b(?:by|without|ignoring|on) \(([^)]*)\)/g)) {
    for (const label of list.split(/,\s*/)) if (!labelsOfAll.has(label)) problems.push(`nothing has the label ${label}`)
  }
  const count = (sign: string): number => expression.split(sign).length
  if (count('(') !== count(')') || count('{') !== count('}')) problems.push('brackets do not match')
  return problems.map((problem) => `${problem}: ${expression}`)
}

type Panel = { id: number; title: string; type: string; targets?: { expr: string; refId: string }[] }

test('every expression of the dashboard names metrics and labels that exist', () => {
  const { panels, templating } = JSON.parse(read('deploy/grafana/depot.json')) as {
    panels: Panel[]
    templating: { list: { definition?: string }[] }
  }
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  assert.ok(expressions.length > 30)
  assert.deepEqual(expressions.flatMap(problemsOf), [])
  assert.deepEqual(
    templating.list.flatMap(({ definition = '' }) => problemsOf(definition)),
    [],
  )
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  for (const { title, type, targets } of panels) if (type !== 'row') assert.ok((targets ?? []).length > 0, title)
})

test('every metric of Depot is on the dashboard', () => {
  const text = read('deploy/grafana/depot.json')
  const shown = [...text.matchAll(/depot_[a-z0-9_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, ''))
  const missing = own.filter((name) => !shown.includes(name))
  assert.deepEqual(missing, ['depot_analytics_spool_bytes', 'depot_analytics_spool_refused_batches'])
})

const ALERT =
  /- alert: (\w+)\n {8}expr: ['"]?(.*?)['"]?\n {8}for: (\d+[mh])\n {8}labels: \{ severity: (\w+) \}\n {8}annotations:\n {10}summary: ['"](.*)['"]\n {10}runbook: docs\/operators\/monitoring\.md#([a-z-]+)\n/g

test('every alert names metrics and labels that exist, and what to do', () => {
  const text = read('deploy/prometheus/depot-alerts.yml')
  const alerts = [...text.matchAll(ALERT)]
  assert.equal(alerts.length, text.split('- alert:').length - 1, 'every alert has all of its parts')
  assert.ok(alerts.length > 12)
  const headings = [...read('docs/operators/monitoring.md').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title.toLowerCase().replaceAll(' ', '-'),
  )
  const operations = new Set(
    [...read('docs/generated/openapi.json').matchAll(/"operationId": "(\w+)"/g)].map(([, id]) => id),
  )
  for (const [, name, expression = '', , severity = '', , anchor = ''] of alerts) {
    assert.deepEqual(problemsOf(expression), [], name)
    assert.ok(['critical', 'warning'].includes(severity), name)
    assert.ok(headings.includes(anchor), `${name}: docs/operators/monitoring.md has no heading for #${anchor}`)
    for (const [, list = ''] of expression.matchAll(/operation!?~"([^"]*)"/g))
      for (const operation of list.split('|')) assert.ok(operations.has(operation), `${name}: ${operation}`)
  }
})

// The table is generated from the source; it also lists metrics that exist only with external engines.
test('the document has each metric with its labels', () => {
  const rows = [...read('docs/operators/monitoring.md').matchAll(/^\| `(depot_\w+)` \| ([^|]*) \|/gm)].map(
    ([, name = '', labels = '']) => [name, [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label)] as const,
  )
  const documented = Object.fromEntries(rows.filter(([name]) => own.includes(name)))
  const real = Object.fromEntries(own.map((name) => [name, [...(known.get(name) ?? [])]]))
  assert.deepEqual(documented, real)
})

test('reports that a search index is being built, and whether search responds until then', async () => {
  const shown: Record<string, [building: number, up: number]> = {}
  for (const state of ['opening', 'building', 'ready', 'rebuilding', 'failing']) {
    const metrics = createMetrics({ process: false })
    observeSearch(metrics, async () => ({ state, documents: 0, memoryBytes: 0, isFeeding: true }))
    const text = await metrics.registry.metrics()
    const of = (name: string): number => Number(new RegExp(`^${name} (\\d)$`, 'm').exec(text)?.[1])
    shown[state] = [of('depot_search_building'), of('depot_search_up')]
  }
  assert.deepEqual(shown, { opening: [0, 0], building: [1, 0], ready: [0, 1], rebuilding: [1, 1], failing: [0, 0] })
})

test('metrics exist after some work: requests, statements, cache, queue, disk', async () => {
  const person = await t.make.account()
  const project = await t.make.project({ owner: person })
  for (let n = 0; n < 3; n += 1) assert.equal((await t.anyone.get(`/v3/project/${project.id}`)).statusCode, 200)
  await t.anyone.get('/v3/project/none-such')
  const { db } = t.deps
  await db.transaction().execute((tx) => enqueue(tx, 'files.sweep', {}, { runAt: new Date(Date.now() - 60_000) }))
  const before = await scrape()
  assert.ok((before('depot_jobs_waiting{state="ready"}') ?? 0) >= 1)
  assert.ok((before('depot_jobs_oldest_ready_seconds') ?? 0) > 30)
  await t.runJobs()
  const value = await scrape()
  assert.equal(value('depot_jobs_waiting{state="ready"}'), 0)
  assert.equal(value('depot_jobs_oldest_ready_seconds'), 0)
  assert.ok((value('depot_jobs_total{task="files.sweep",outcome="success"}') ?? 0) >= 1)
  assert.ok((value('depot_job_seconds_count{task="files.sweep"}') ?? 0) >= 1)
  assert.equal(value('depot_http_requests_total{operation="getProject",status="404"}'), 1)
  assert.ok((value('depot_http_request_seconds_count{operation="getProject"}') ?? 0) >= 4)
  assert.ok((value('depot_cache_reads_total{kind="project",outcome="hit"}') ?? 0) >= 2)
  assert.ok((value('depot_cache_reads_total{kind="project",outcome="miss"}') ?? 0) >= 1)
  assert.ok((value('depot_cache_entries{kind="project"}') ?? 0) >= 1)
  assert.equal(value('depot_cache_enabled'), 1)
  assert.ok((value('depot_cache_bytes') ?? 0) > 0)
  assert.ok((value('depot_database_query_seconds_count') ?? 0) > 5)
  assert.equal(value('depot_database_connections{pool="primary",state="waiting"}'), 0)
  const free = value('depot_data_disk_bytes{kind="free"}') ?? 0
  assert.ok(free > 0 && free <= (value('depot_data_disk_bytes{kind="total"}') ?? 0))
})

async function scrape(): Promise<(sample: string) => number | undefined> {
  const { body } = await t.anyone.get('/metrics')
  const samples = new Map(
    body
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
  return (sample) => samples.get(sample)
}
