// The command `depot import-pack`: its arguments, its output and its exit codes.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeZip } from '#test/support/factories/archives.ts'
import { commandInstance } from '#test/support/processes/command-instance.ts'

const instance = await commandInstance()
const { folder, owner } = instance

test('a pack becomes a draft; wrong arguments and absent files are errors', async () => {
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
  const run = (...args: string[]) => instance.run('import-pack', ...args)
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
