// Entries of archives in a review: comparison, labels, filters, text, hostile names; projects by hash.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { makeZip, type TestEntry } from '#test/support/factories/archives.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { labelsOf } from './labels.ts'

const t = await testApp()
after(() => t.close())
const moderator = await t.make.account({ role: 'moderator' })
const project = await t.make.project({ status: 'processing' })

type Row = { path: string; size: number | null; size_before: number | null; state: string; labels: string[] }
type Listed = {
  omitted: number
  files: {
    id: string
    filename: string
    against: string | null
    archive: boolean
    counts: Record<string, number> | null
    matches: number
    entries: Row[]
  }[]
}

let made = 0
/** A version with one archive of these entries. */
async function versionOf(
  entries: readonly TestEntry[],
  of = project,
): Promise<{ id: string; file: string; sha512: string }> {
  made += 1
  const version = await t.make.version({ project: of, version_number: `1.0.${made}` })
  const bytes = makeZip(entries, { comment: String(made) })
  const file = await t.make.file({ version, project: of, bytes, filename: `lantern-${made}.jar` })
  return { id: version.id, file: file.id, sha512: file.sha512 }
}
const ask = (id: string, query: Record<string, string | number> = {}, who = moderator) =>
  t.as(who).get(`/_internal/moderation/versions/${id}/entries`, { query })
const list = async (id: string, query: Record<string, string | number> = {}): Promise<Listed> => {
  const answer = await ask(id, query)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const one = async (id: string, query: Record<string, string | number> = {}) => {
  const [file] = (await list(id, query)).files
  assert.ok(file !== undefined)
  return file
}
const textOf = (id: string, file: string, path: string, who = moderator) =>
  t.as(who).get(`/_internal/moderation/versions/${id}/entry`, { query: { file, path } })

test('entries are compared with those of another version, by size and checksum', async () => {
  const old = await versionOf([
    { name: 'META-INF/', stored: true },
    { name: 'same.txt', data: 'same' },
    { name: 'grown.txt', data: 'a' },
    { name: 'edited.txt', data: 'abc', stored: true },
    { name: 'gone.dll', data: 'x' },
  ])
  const now = await versionOf([
    { name: 'same.txt', data: 'same', stored: true },
    { name: 'grown.txt', data: 'a longer one' },
    { name: 'edited.txt', data: 'abd' },
    { name: 'libs/inner.jar', data: 'PK' },
  ])
  const file = await one(now.id, { against: old.id, state: 'different' })
  assert.equal(file.against, old.file)
  assert.deepEqual(file.entries, [
    { path: 'edited.txt', size: 3, size_before: 3, state: 'changed', labels: [] },
    { path: 'gone.dll', size: null, size_before: 1, state: 'removed', labels: ['native_code'] },
    { path: 'grown.txt', size: 12, size_before: 1, state: 'changed', labels: [] },
    { path: 'libs/inner.jar', size: 2, size_before: null, state: 'added', labels: ['nested_archive'] },
  ])
  const { native_code, nested_archive, ...states } = file.counts ?? {}
  assert.deepEqual(
    [states, native_code, nested_archive],
    [{ added: 1, removed: 1, changed: 2, same: 1, script: 0, unusual_name: 0 }, 1, 1],
  )
  const alone = await one(now.id)
  assert.deepEqual([alone.against, alone.counts?.['added'], alone.matches], [null, 4, 4])
})

test('entries are filtered by path, state, label and file, and are bounded', async () => {
  const { id, file } = await versionOf(
    Array.from({ length: 30 }, (_, n) => ({ name: `run/${n}.${n % 3 === 0 ? 'SH' : 'txt'}` })),
  )
  assert.equal((await one(id, { label: 'script' })).matches, 10)
  assert.deepEqual(
    (await one(id, { query: 'RUN/2.' })).entries.map(({ path }) => path),
    ['run/2.txt'],
  )
  const page = await one(id, { file, count: 2, offset: 28 })
  assert.deepEqual([page.matches, page.entries.length, page.counts?.['added']], [30, 2, 30])
  assert.equal((await one(id, { state: 'removed' })).matches, 0)
  const plain = await t.make.file({
    version: { id },
    project,
    bytes: Buffer.from('text'),
    filename: 'a.txt',
    primary: false,
  })
  const { files } = await list(id, { count: 29 })
  assert.deepEqual(
    files.map(({ archive, entries }) => [archive, entries.length]),
    [
      [true, 29],
      [false, 0],
    ],
  )
  assert.deepEqual(
    (await list(id, { file: plain.id })).files.map(({ counts }) => counts),
    [null],
  )
})

test('names with unusual characters, scripts and native code are labelled', () => {
  const unusual = [
    'a\u202Egnp.exe',
    'a\u200Bb',
    'tab\tname',
    'раypal.txt',
    'CON',
    'trailing. ',
    'a\u00A0b',
    'x//y',
    'a\uE000',
  ]
  for (const name of unusual) assert.ok(labelsOf(name).includes('unusual_name'), JSON.stringify(name))
  for (const name of ['META-INF/MANIFEST.MF', 'assets/日本語.json', 'Ünïcode.txt', 'а/б.txt', 'a b.txt'])
    assert.deepEqual(labelsOf(name), [], name)
  assert.deepEqual(labelsOf('natives/liblamp.so.1'), ['native_code'])
  assert.deepEqual(labelsOf('install.PS1'), ['script'])
})

test('the text of an entry is at most 64 KiB, and null for other content', async () => {
  const long = 'é'.repeat(60_000)
  const { id, file } = await versionOf([
    { name: '<script>alert(1)</script>.txt', data: '<b>&amp;</b>\u202E' },
    { name: 'long.txt', data: `a${long}` },
    { name: 'stored.txt', data: long, stored: true },
    { name: 'bomb.txt', data: Buffer.alloc(20_000_000, 'x') },
    { name: 'A.class', data: Buffer.from([0xca, 0xfe, 0xba, 0xbe, 0]) },
    { name: 'latin1.txt', data: Buffer.from([0x61, 0xe9, 0x62]) },
    { name: 'empty.txt', data: '' },
  ])
  const read = async (path: string) => (await textOf(id, file, path)).json()
  assert.deepEqual(await read('<script>alert(1)</script>.txt'), {
    path: '<script>alert(1)</script>.txt',
    size: 15,
    text: '<b>&amp;</b>\u202E',
    complete: true,
  })
  for (const path of ['long.txt', 'stored.txt', 'bomb.txt']) {
    const { text, complete } = await read(path)
    const bytes = Buffer.byteLength(text)
    assert.ok(bytes <= 65_536 && bytes >= 65_535 && !complete && !text.includes('\uFFFD'), path)
  }
  for (const path of ['A.class', 'latin1.txt']) assert.equal((await read(path)).text, null)
  assert.deepEqual([(await read('empty.txt')).text, (await read('empty.txt')).complete], ['', true])
  assertError(await textOf(id, file, 'absent'), 404, 'not_found')
  assertError(await textOf(id, 'Zzzzzzzz', 'long.txt'), 404, 'not_found')
  assertError(await textOf('Zzzzzzzz', file, 'long.txt'), 404, 'not_found')
  assertError(await textOf(id, file, ''), 400, 'invalid_input', 'path')
})

test('only moderators read entries, and only of versions of the same project', async () => {
  const { id, file } = await versionOf([{ name: 'a' }])
  const other = await t.make.project()
  const elsewhere = await versionOf([{ name: 'b' }], other)
  assertError(await ask(id, { against: elsewhere.id }), 400, 'invalid_input', 'against')
  assertError(await ask(id, { against: 'Zzzzzzzz' }), 400, 'invalid_input', 'against')
  assertError(await ask(id, { file: 'Zzzzzzzz' }), 400, 'invalid_input', 'file')
  assertError(await ask(id, { state: 'new' }), 400, 'invalid_input', 'state')
  assertError(await ask(id, {}, project.owner), 403, 'unauthorized')
  assertError(await textOf(id, file, 'a', project.owner), 403, 'unauthorized')
  assertError(await t.anyone.get(`/_internal/moderation/versions/${id}/entries`), 401, 'unauthorized')
})

test('all projects with one of several files are found, hidden ones too', async () => {
  const find = (hashes: string[], who = moderator) => t.as(who).post('/_internal/moderation/files', { hashes })
  const hidden = await t.make.project({ status: 'draft' })
  const [first, second] = [await versionOf([{ name: 'a' }]), await versionOf([{ name: 'b' }], hidden)]
  const copy = await t.make.version({ project: hidden })
  await t.deps.db
    .insertInto('file')
    .columns(['id', 'version_id', 'filename', 'size_bytes', 'sha1', 'sha512', 'content_type', 'storage_key'])
    .expression((eb) =>
      eb
        .selectFrom('file')
        .select([eb.val('copyFile').as('id'), eb.val(copy.id).as('version_id')])
        .select(['filename', 'size_bytes', 'sha1', 'sha512', 'content_type', 'storage_key'])
        .where('id', '=', first.file),
    )
    .execute()
  const answer = await find([first.sha512.toUpperCase(), second.sha512, '0'.repeat(128)])
  assert.equal(answer.statusCode, 200, answer.body)
  const { projects, complete } = answer.json()
  assert.equal(complete, true)
  assert.deepEqual(
    projects.map(({ id, files }: { id: string; files: object[] }) => [id, files.length]).sort(),
    [
      [hidden.id, 2],
      [project.id, 1],
    ].sort(),
  )
  assertError(await find(['abc']), 400, 'validation_error', 'hashes.0')
  assertError(await find([]), 400, 'validation_error', 'hashes')
  assertError(await find([first.sha512], project.owner), 403, 'unauthorized')
})
