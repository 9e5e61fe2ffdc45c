// `depot storage` and `depot clean` as commands: their output as text and as JSON.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type TestDatabase, testDatabase } from '#test/support/app/database.ts'
import { commandHere } from '#test/support/processes/command-here.ts'

const folder = mkdtempSync(join(tmpdir(), 'depot-maintenance-'))
let database: TestDatabase
before(async () => {
  database = await testDatabase()
})
after(async () => {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => commandHere(args, { DATABASE_URL: database.connectionString, DATA_DIR: folder })

test('storage measures if nothing was measured, and again only with --measure', async () => {
  const first = JSON.parse((await run('storage', '--json')).stdout)
  assert.deepEqual(
    first.kinds.map(({ kind }: { kind: string }) => kind),
    ['version_files', 'images', 'orphaned_files', 'events', 'database'],
  )
  assert.ok(first.kinds[4].bytes > 1_000_000 && first.disk.free_bytes > 0)
  assert.equal(JSON.parse((await run('storage', '--json')).stdout).measured, first.measured)
  assert.notEqual(JSON.parse((await run('storage', '--json', '--measure')).stdout).measured, first.measured)
  const { stdout } = await run('storage')
  assert.match(stdout, /^Measured 20.*\nKIND +SIZE +FILES\n[\s\S]*\nGrowth: unknown before the second day\nDisk: /)
})

test('clean says what it has deleted, or would delete', async () => {
  const { stdout } = await run('clean', '--dry-run')
  assert.match(stdout, /^Would be deleted:\nExpired uploads +0\n/)
  assert.equal(JSON.parse((await run('clean', '--json', '--dry-run')).stdout).dry_run, true)
  assert.match((await run('clean')).stdout, /^Deleted:\n/)
  assert.equal((await run('clean', '--all')).code, 2)
})
