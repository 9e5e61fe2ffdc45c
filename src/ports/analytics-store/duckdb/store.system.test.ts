// Two processes on one event file, and processes that are killed while they write.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { times } from '#test/support/factories/analytics-events.ts'
import { openDuckDbStore } from './store.ts'

const INGEST = join(import.meta.dirname, '../../../../test/support/processes/ingest-child.ts')

test('a folder that another process holds is rejected in a plain sentence', async (t) => {
  const dir = await folder(t)
  const child = startIngest(t, dir)
  await child.line()
  await assert.rejects(openDuckDbStore({ dir }), /events\.duckdb is in use by another process$/)
})

test('kill -9 while events stream in loses no acknowledged one, and the next start is clean', async (t) => {
  const dir = await folder(t)
  let acknowledged = 0
  for (const _ of times(3, () => 0)) {
    const child = startIngest(t, dir)
    const lines = 40
    for (let i = 0; i < lines; i += 1) acknowledged = Number(await child.line())
    await child.kill()
    // Lines in flight when the process died count as well.
    acknowledged = Number(child.lastLine() ?? acknowledged)
    const store = await openDuckDbStore({ dir })
    const { projects, versions } = await store.countDownloads({})
    const found = projects.reduce((sum, { downloads }) => sum + downloads, 0)
    assert.ok(found >= acknowledged, `${acknowledged} acknowledged, ${found} found`)
    assert.equal(found % 100, 0, 'batches are stored whole or not at all')
    assert.equal(versions.length, found)
    assert.equal((await store.listBatches({ from: 0 })).length, found / 100)
    await store.close()
  }
})

async function folder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'depot-analytics-'))
  t.after(() => rm(dir, { recursive: true }))
  return dir
}

/** A process that stores downloads without end and prints how many are acknowledged. */
function startIngest(t: TestContext, dir: string) {
  const child = spawn(process.execPath, [INGEST, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  let last: string | undefined
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    last = line
  })
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
    lines.close()
  }
  t.after(kill)
  return { kill, lastLine: () => last, line: () => new Promise<string>((resolve) => lines.once('line', resolve)) }
}
