import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '#platform/telemetry/log.ts'
import { connectToHub } from './http-process.ts'
import { Hub } from './hub.ts'

test('a main process rejects an HTTP process of a newer release that it cannot serve', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'depot-channel-'))
  const hub = await Hub.open({
    dataDir,
    log: silentLog(),
    onListening: () => undefined,
    onLeaving: () => undefined,
    onSilent: () => undefined,
  })
  const channel = await connectToHub(hub.socketPath)
  await assert.rejects(channel.call('hub.open', [99]), /channel of a new HTTP process has format 99 of a newer version/)
  channel.close()
  hub.close()
  await rm(dataDir, { recursive: true, force: true })
})
