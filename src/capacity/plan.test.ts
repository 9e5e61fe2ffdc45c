import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Costs, MEASURED, planCapacity, READS, type Workload } from './plan.ts'

const SMALL: Workload = {
  projects: 100,
  versions: 500,
  accounts: 100,
  follows: 1_000,
  readsPerSecond: 1,
  writesPerSecond: 0,
  eventsPerDay: 1_000,
  fileBytes: 100_000,
  coresPerMachine: 8,
}
const EVEN: Costs = {
  ...MEASURED,
  requestMs: { project: 1, version: 1, projects: 1, versions: 1, search: 1, updates: 1, edit: 10, event: 0.1 },
  announcedWritesPerSecond: 100,
  rowBytes: { project: 1_000, version: 500, file: 300, file_content: 100, dependency: 50, follow: 10, account: 20 },
  dependenciesPerVersion: 2,
}
const partOf = (load: Workload, name: string) => {
  const part = planCapacity(load, EVEN).parts.find(({ part }) => part === name)
  assert.ok(part, name)
  return part
}

test('the shares of reads are all of them', () => {
  const sum = Object.values(READS).reduce((a, b) => a + b, 0)
  assert.equal(sum.toFixed(6), '1.000000')
})

test('cores carry reads, writes and the peak of events, half of each free', () => {
  const { cores, machines } = planCapacity(
    // 2,000 ms of reads, 1,000 ms of writes, 300 ms of events: 3.3 cores, 6.6 with half left free.
    { ...SMALL, readsPerSecond: 2_000, writesPerSecond: 100, eventsPerDay: 86_400_000, coresPerMachine: 2 },
    EVEN,
  )
  assert.deepEqual([cores, machines], [7, 4])
})

test('rows are counted with what hangs on them', () => {
  const { databaseBytes, filesBytes } = planCapacity(SMALL, EVEN)
  assert.equal(databaseBytes, 100 * 1_000 + 500 * (500 + 300 + 100 + 2 * 50) + 100 * 20 + 1_000 * 10)
  assert.equal(filesBytes, 500 * 100_000)
})

test('a small instance is far from every end; each part reaches it by what it depends on', () => {
  assert.ok(planCapacity(SMALL, EVEN).parts.every(({ share }) => share < 0.5))
  const reasons: [string, Partial<Workload>][] = [
    ['processor for HTTP', { readsPerSecond: 4_000 }],
    ['rate of announced writes', { writesPerSecond: 100 }],
    ['connections of PostgreSQL', { readsPerSecond: 4_000 }],
    ['common count of requests', { readsPerSecond: 40_000 }],
    ['embedded search index', { versions: 10_000_000 }],
    ['embedded analytics', { eventsPerDay: 1_000_000_000 }],
    ['size of PostgreSQL', { versions: 1_000_000_000 }],
    ['disk for files', { versions: 10_000, fileBytes: 100_000_000 }],
  ]
  for (const [name, more] of reasons) {
    assert.ok(partOf({ ...SMALL, ...more }, name).share >= 1, name)
  }
})

test('the fullest part comes first', () => {
  const { parts } = planCapacity({ ...SMALL, writesPerSecond: 1_000 }, EVEN)
  assert.deepEqual(
    parts.map(({ share }) => share),
    parts.map(({ share }) => share).toSorted((a, b) => b - a),
  )
  assert.equal(parts[0]?.part, 'rate of announced writes')
})
