import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testAnalyticsStore } from '#test/conformance/analytics-store.ts'
import { aView, batchOf, times } from '#test/support/factories/analytics-events.ts'
import { channelPair } from '#test/support/stand-ins/channel-pair.ts'
import { openDuckDbStore } from '../duckdb/store.ts'
import { remoteStore, serveStore } from './remote-store.ts'

const dir = await mkdtemp(join(tmpdir(), 'depot-analytics-'))
const duckdb = await openDuckDbStore({ dir })
const { near, close } = await channelPair(serveStore(duckdb))
after(async () => {
  await close()
  await duckdb.close()
  await rm(dir, { recursive: true })
})

testAnalyticsStore('remote', async () => remoteStore(near))

test('a failing or disconnected reader ends the read', async () => {
  await remoteStore(near).append('view', batchOf(times(10, () => aView({ project_id: 'Failing1' }))))
  await assert.rejects(
    remoteStore(near).readEvents('view', () => Promise.reject(new Error('No room'))),
    /No room/,
  )
  const other = await channelPair(serveStore(duckdb))
  const reading = remoteStore(other.near).readEvents('view', async () => other.sockets.near.destroy() && undefined)
  await assert.rejects(reading, { kind: 'service_unavailable' })
  await other.close()
})
