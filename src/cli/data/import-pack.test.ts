// The command `depot import-pack`: its arguments, its output and its exit codes.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { emptyDatabase, type TestDatabase } from '#test/support/app/database.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import { createFactories } from '#test/support/factories/factories.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { commandHere } from '#test/support/processes/command-here.ts'

let database: TestDatabase
let folder: string
let env: Record<string, string>
before(async () => {
  database = await emptyDatabase()
  folder = await mkdtemp(join(tmpdir(), 'depot-pack-'))
  env = { DATABASE_URL: database.connectionString, DATA_DIR: join(folder, 'data') }
  assert.equal((await commandHere(['migrate'], env)).code, 0)
})
after(async () => {
  await database?.close()
  await rm(folder, { recursive: true, force: true })
})

test('a pack becomes a draft; wrong arguments and absent files are errors', async () => {
  const make = createFactories({ db: database.db, files: undefined as never, now: Date.now })
  const { slug: owner } = await teamFactories(database.db).organization(await make.account())
  const pack = join(folder, 'lanterns.mrpack')
  const index = {
    ...{ formatVersion: 1, game: 'minecraft', versionId: '1.0.0', name: 'Lanterns', files: [] },
    dependencies: { minecraft: '1.20.1' },
  }
  const entries = [
    { name: 'modrinth.index.json', data: JSON.stringify(index) },
    { name: 'overrides/options.txt', data: 'x' },
  ]
  await writeFile(pack, makeZip(entries))
  const run = (...args: string[]) => commandHere(['import-pack', ...args], env)
  const wrong: [string[], number, RegExp][] = [
    [[], 2, /Missing arguments/],
    [[pack], 2, /--owner is required/],
    [[pack, '--owner', owner, '--projects-from', 'ftp://host'], 2, /is not the address of an instance/],
    [[pack, '--owner', 'nobody'], 1, /There is no organization nobody/],
    [[join(folder, 'none.mrpack'), '--owner', owner], 1, /There is no file or folder/],
  ]
  for (const [args, code, message] of wrong) {
    const outcome = await run(...args)
    assert.equal(outcome.code, code, outcome.stderr)
    assert.match(outcome.stderr, message)
  }
  const created = await run(pack, '--owner', owner)
  assert.deepEqual([created.code, created.stderr], [0, ''])
  assert.match(
    created.stdout,
    /Created the draft lanterns with the version 1\.0\.0: 0 files, of which 0 are unknown here/,
  )
  await writeFile(pack, makeZip([...entries, { name: 'overrides/more.txt', data: 'y' }]))
  const json = await run(pack, '--owner', owner, '--json')
  const { id: _, ...report } = JSON.parse(json.stdout)
  assert.deepEqual(report, { slug: 'lanterns-2', version: '1.0.0', files: 0, unknown: 0, copied: 0 })
})
