// The commands `depot export-project` and `depot import-project`: their arguments, their output and their exit codes.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { commandInstance } from '#test/support/processes/command-instance.ts'

const { database, folder, make, owner, run } = await commandInstance()

test('a project is written and created again; wrong arguments and absent objects are errors', async () => {
  const project = await make.project({ slug: 'lantern', status: 'private' })
  const target = join(folder, 'project')
  const written = await run('export-project', 'lantern', target)
  assert.deepEqual([written.code, written.stderr], [0, ''])
  assert.match(written.stdout, /Wrote 0 versions, 0 files and 0 images/)
  const wrong: [string[], number, RegExp][] = [
    [['export-project', 'lantern'], 2, /Missing arguments/],
    [['export-project', 'lantern', target], 1, /exists already/],
    [['import-project', target], 2, /--owner is required/],
    [['import-project', target, '--owner', 'nobody'], 1, /There is no organization nobody/],
    [['import-project', join(folder, 'none'), '--owner', owner], 1, /none/],
    [['import-project', target, '--owner', owner], 1, /project\.json/],
  ]
  for (const [args, code, message] of wrong) {
    const outcome = await run(...args)
    assert.equal(outcome.code, code, outcome.stderr)
    assert.match(outcome.stderr, message)
  }
  assert.deepEqual((await readdir(folder)).sort(), ['data', 'project'])
  await database.db.updateTable('project').set({ slug: 'former' }).where('id', '=', project.id).execute()
  const created = await run('import-project', target, '--owner', owner, '--json')
  assert.equal(created.code, 0, created.stderr)
  const { id, ...report } = JSON.parse(created.stdout)
  assert.deepEqual(report, { slug: 'lantern', versions: 0, files: 0, images: 0, skipped: 0 })
  const row = await database.db.selectFrom('project').select('status').where('id', '=', id).executeTakeFirstOrThrow()
  assert.equal(row.status, 'private')
  const entry = await database.db.selectFrom('audit_entry').selectAll().where('subject_id', '=', id).execute()
  assert.deepEqual(
    entry.map(({ action, actor_kind }) => [action, actor_kind]),
    [['project.created', 'command']],
  )
})
