// Moves complete files into another store or none, and leaves the old store unchanged.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openDiskFiles } from '#ports/files/disk/disk-files.ts'
import type { Files } from '#ports/files/files.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { failingFiles } from '#test/support/stand-ins/failing-files.ts'
import { verifyInstance } from '../verify-instance.ts'
import { moveFiles } from './move-files.ts'

const COUNT = 9
let t: TestApp
before(async () => {
  t = await testApp()
  const project = await t.make.project({ status: 'approved' })
  for (let n = 0; n < COUNT; n += 1) {
    const version = await t.make.version({ project })
    await t.make.file({ version, project, bytes: Buffer.alloc(n === 0 ? 3_000_000 : 100 + n, n) })
  }
})
after(() => t?.close())

async function keysOf(files: Files): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of files.list()) keys.push(key)
  return keys.sort()
}

async function emptyStore(): Promise<Files> {
  const folder = mkdtempSync(join(tmpdir(), 'depot-move-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return openDiskFiles({ folder })
}

test('every file is in the new store with the same content; a second run copies only newer files', async () => {
  const target = await emptyStore()
  const before = await keysOf(t.deps.files)
  let shown = 0
  const report = await moveFiles(t.deps, target, {
    onProgress: (done, total) => (shown = Math.max(shown, done / total)),
  })
  assert.deepEqual([report.copied, report.present, report.missing, shown], [COUNT, 0, [], 1])
  assert.deepEqual([await keysOf(target), await keysOf(t.deps.files)], [before, before])
  assert.equal((await verifyInstance({ ...t.deps, files: target }, { canReadEvents: false })).findings, 0)
  const project = await t.make.project()
  const version = await t.make.version({ project })
  await t.make.file({ version, project, bytes: Buffer.from('later') })
  const again = await moveFiles(t.deps, target)
  assert.deepEqual([again.copied, again.present, again.bytes], [1, COUNT, 5])
})

test('a full new store ends it with its error; the next run continues', async () => {
  const target = await emptyStore()
  let left = 3
  const full = failingFiles(target, {
    publish: () => (left-- > 0 ? undefined : Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })),
  })
  await assert.rejects(moveFiles(t.deps, full), { name: 'ApiError' })
  assert.equal((await keysOf(target)).length, 3)
  const { copied, present } = await moveFiles(t.deps, target)
  assert.deepEqual([copied, present], [COUNT - 2, 3])
})

test('bytes that are not those of their row are not moved, and missing ones are named', async () => {
  const { storage_key: key, size_bytes: size } = await t.deps.db
    .selectFrom('file')
    .select(['storage_key', 'size_bytes'])
    .orderBy('size_bytes')
    .limit(1)
    .executeTakeFirstOrThrow()
  await t.deps.files.put(key, Buffer.alloc(size, 'x'), { contentType: 'x/y' })
  const target = await emptyStore()
  await assert.rejects(moveFiles(t.deps, target), {
    name: 'OperatorError',
    message: new RegExp(`The content of the file ${key} does not match`),
  })
  assert.equal(await target.stat(key), undefined)
  await t.deps.files.remove(key)
  assert.deepEqual((await moveFiles(t.deps, target)).missing, [key])
})
