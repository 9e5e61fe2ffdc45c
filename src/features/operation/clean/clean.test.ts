import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { testApp } from '#test/support/app/test-app.ts'
import { cleanInstance } from './clean-instance.ts'

const t = await testApp()
after(() => t.close())

const run = (statement: string) => sql.raw(statement).execute(t.deps.db)
const clean = (isDryRun: boolean) => cleanInstance(t.deps, { isDryRun, signal: new AbortController().signal })
const keys = async (): Promise<string[]> => {
  const found: string[] = []
  for await (const { key } of t.deps.files.list()) found.push(key)
  return found.sort()
}

test('a dry run counts and deletes nothing; the command deletes what it has counted, and nothing that is in use', async () => {
  const project = await t.make.project()
  const version = await t.make.version({ project })
  await t.make.file({ version, project, bytes: Buffer.from('kept') })
  const kept = await keys()
  await t.deps.files.put('versions/planted/x.jar', Buffer.from('xyz'), { contentType: 'application/java-archive' })
  await t.deps.files.put('versions/claimed/y.jar', Buffer.from('y'), { contentType: 'application/java-archive' })
  const upload = (id: string, expires: string) =>
    run(`insert into upload (id, account_id, length, metadata, expires)
      values ('${id}', '${project.owner.id}', 3, '', now() + interval '${expires}')`)
  await upload('expired1', '-1 day')
  await upload('waiting1', '1 day')
  await run(
    "insert into upload_claim (storage_key, created) values ('versions/claimed/y.jar', now() - interval '7 hours')",
  )
  await run("insert into upload_claim (storage_key) values ('versions/new/z.jar')")
  const before = await keys()
  const expected = {
    uploads: 1,
    drafts: 0,
    claims: 1,
    audit_entries: 0,
    external_images: 0,
    unused_files: 1,
    unused_bytes: 3,
  }
  assert.deepEqual(await clean(true), expected)
  assert.deepEqual(await keys(), before)
  assert.deepEqual(await clean(true), expected, 'the dry run has changed nothing')
  assert.deepEqual(await clean(false), expected)
  assert.deepEqual(await keys(), kept)
  const { rows } = await sql<{ id: string }>`select id from upload`.execute(t.deps.db)
  assert.deepEqual(rows, [{ id: 'waiting1' }])
  assert.deepEqual(await clean(false), { ...expected, uploads: 0, claims: 0, unused_files: 0, unused_bytes: 0 })
})

test('two runs at the same time delete each item once and do not fail', async () => {
  for (const name of ['a', 'b', 'c'])
    await t.deps.files.put(`versions/twice/${name}.jar`, Buffer.from(name), { contentType: 'application/java-archive' })
  const before = (await keys()).length
  await Promise.all([clean(false), clean(false)])
  assert.equal((await keys()).length, before - 3)
})
