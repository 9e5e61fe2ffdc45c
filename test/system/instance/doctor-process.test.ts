// `depot doctor --fix` next to a server: requests continue, faults are corrected, and nothing else changes.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { depot, makeDataDir, startDepot } from '#test/support/processes/running-depot.ts'

const HEADERS = { 'user-agent': 'doctor-test/1.0' }
const PATHS = ['/v3/search', '/v3/statistics', '/', '/ready']

test('corrections do not disturb a server, and two runs at the same time succeed', async () => {
  const { dataDir, remove } = makeDataDir()
  assert.equal((await depot(dataDir, ['seed', '--projects', '8'])).code, 0)
  const server = await startDepot(dataDir)
  try {
    const objects = join(dataDir, 'files/objects/planted')
    mkdirSync(objects, { mode: 0o700 })
    writeFileSync(join(objects, 'unused.jar'), 'x')
    chmodSync(join(objects, 'unused.jar'), 0o644)
    const failures: string[] = []
    let isRunning = true
    const read = async (): Promise<void> => {
      while (isRunning) {
        for (const path of PATHS) {
          const { status } = await fetch(server.url + path, { headers: HEADERS })
          if (status >= 400 && status !== 429) failures.push(`${path}: ${status}`)
        }
      }
    }
    const reading = read()
    const both = await Promise.all([1, 2].map(() => depot(dataDir, ['doctor', '--fix', '--full', '--json'])))
    isRunning = false
    await reading
    assert.deepEqual(failures, [])
    const fixed = new Set<string>()
    for (const { code, stdout, stderr } of both) {
      assert.equal(code, 0, stdout + stderr)
      for (const one of JSON.parse(stdout).findings) if (one.fixed) fixed.add(one.code)
    }
    assert.deepEqual([...fixed].sort(), ['file_unused', 'folder_readable'])
    const after = JSON.parse((await depot(dataDir, ['doctor', '--full', '--json'])).stdout)
    assert.deepEqual(
      after.findings.filter(
        ({ severity, fixable }: { severity: string; fixable: boolean }) => severity === 'error' || fixable,
      ),
      [],
    )
    assert.match(after.skipped.join(), /download counters/)
    assert.ok(after.files > 20)
  } finally {
    await server.stop()
    remove()
  }
})
