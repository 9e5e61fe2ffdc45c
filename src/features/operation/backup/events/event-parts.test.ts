// The export of events by a server for a backup.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { EVENT_KINDS } from '#ports/analytics-store/events.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { eventsOfServer, eventsSubscriber } from './event-parts.ts'

const VIEWS = 120_000

test('a server that is notified twice exports the events once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'depot-export-'))
  after(() => rmSync(folder, { recursive: true }))
  const read: string[] = []
  const app = await testApp()
  try {
    const { deps } = app
    const analytics = {
      ...deps.analytics,
      async readEvents(kind: string, onLines: (lines: string[]) => Promise<void>) {
        read.push(kind)
        for (let n = 0; kind === 'view' && n < VIEWS; n += 1_000) await onLines(Array(1_000).fill('[0]'))
      },
    }
    const config = {
      ...deps.config,
      analytics: { ...deps.config.analytics, store: { kind: 'embedded' as const, folder } },
    }
    const subscriber = eventsSubscriber({ ...deps, config, analytics })
    const parts = eventsOfServer(deps, folder)()
    const first = parts[Symbol.asyncIterator]().next()
    let ids: string[] = []
    while (ids.length === 0) {
      await new Promise(setImmediate)
      ids = readdirSync(folder).includes('export') ? readdirSync(join(folder, 'export')) : []
    }
    subscriber.handle(new Set(ids))
    subscriber.handle(new Set(ids))
    let count = (await first).value?.count ?? 0
    for await (const part of parts) count += part.count
    assert.equal(count, VIEWS)
    assert.deepEqual(read, EVENT_KINDS)
  } finally {
    await app.close()
  }
})
