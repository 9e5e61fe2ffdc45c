// The conformance suite of the files port. The test of each adapter runs it.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { ByteRange, Files, StagedFile } from '#ports/files/files.ts'

const OPTIONS = { contentType: 'application/java-archive' }
const LIMITS = { maxBytes: 10_000_000 }

const hex = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('hex')
const isErrorKind = (problem: string) => (error: unknown) => error instanceof ApiError && error.kind === problem

async function read(files: Files, key: string, range?: ByteRange): Promise<Buffer | undefined> {
  const opened = await files.open(key, range)
  return opened && buffer(opened.stream)
}

/** Removes the staged files and returns their number. */
const leftovers = (files: Files) => files.sweep({ olderThanMs: 0, nowMs: Number.MAX_SAFE_INTEGER })

const stageBytes = (files: Files, bytes: Uint8Array): Promise<StagedFile> =>
  files.stage(Readable.from([Buffer.from(bytes)]), LIMITS)

/** Runs the suite; `makeFiles` gives a new empty store for each test and cleans it up after the test itself. */
export function filesConformance(name: string, makeFiles: (t: { after(fn: () => unknown): void }) => Promise<Files>) {
  describe(`${name} as a files adapter`, () => {
    describe('staging', () => stagingConformance(makeFiles))
    describe('storing', () => storingConformance(makeFiles))
    describe('reading', () => readingConformance(makeFiles))
  })
}

type MakeFiles = Parameters<typeof filesConformance>[1]

function stagingConformance(makeFiles: MakeFiles) {
  test('a staged file has the bytes, the size and both hashes of its source', async (t) => {
    const files = await makeFiles(t)
    const chunks = Array.from({ length: 60 }, (_, i) => Buffer.alloc(50_000 + i, i))
    const bytes = Buffer.concat(chunks)
    const staged = await files.stage(Readable.from(chunks), LIMITS)
    assert.equal(staged.sizeBytes, bytes.length)
    assert.equal(staged.sha1, hex('sha1', bytes))
    assert.equal(staged.sha512, hex('sha512', bytes))
    assert.ok((await readFile(staged.path)).equals(bytes))
  })

  test('an empty source stages as an empty file', async (t) => {
    const files = await makeFiles(t)
    const staged = await files.stage(Readable.from([]), LIMITS)
    assert.deepEqual([staged.sizeBytes, staged.sha1], [0, hex('sha1', Buffer.alloc(0))])
  })

  test('a source of exactly the limit is taken; one byte more is refused with the limit, and nothing stays', async (t) => {
    const files = await makeFiles(t)
    const limit = 2 * 1024 * 1024
    const staged = await files.stage(Readable.from([Buffer.alloc(limit)]), { maxBytes: limit })
    await files.discard(staged)
    const source = Readable.from([Buffer.alloc(limit), Buffer.alloc(1), Buffer.alloc(1)])
    await assert.rejects(files.stage(source, { maxBytes: limit, field: 'icon' }), (error: ApiError) => {
      assert.equal(error.kind, 'invalid_input')
      assert.deepEqual(error.details, { field: 'icon', message: error.message })
      assert.match(error.message, /2 MiB/)
      return true
    })
    assert.equal(source.destroyed, true)
    assert.equal(await leftovers(files), 0)
  })

  test('a source that breaks passes its own error on and leaves nothing', async (t) => {
    const files = await makeFiles(t)
    async function* broken() {
      yield Buffer.alloc(3_000_000)
      throw new Error('the sender disconnected')
    }
    await assert.rejects(files.stage(Readable.from(broken()), LIMITS), /the sender disconnected/)
    assert.equal(await leftovers(files), 0)
  })

  test('an abort ends the staging of a source that has stalled and leaves nothing', async (t) => {
    const files = await makeFiles(t)
    const stop = new AbortController()
    const stalled = new Readable({ read() {} })
    stalled.push(Buffer.alloc(100))
    const staging = files.stage(stalled, { ...LIMITS, signal: stop.signal })
    stop.abort(new Error('told to stop'))
    await assert.rejects(staging, /told to stop/)
    await assert.rejects(
      files.stage(Readable.from([Buffer.from('x')]), { ...LIMITS, signal: stop.signal }),
      /told to stop/,
    )
    assert.equal(await leftovers(files), 0)
  })

  test('a discarded file is deleted, and discarding it again does nothing', async (t) => {
    const files = await makeFiles(t)
    const staged = await stageBytes(files, Buffer.from('abc'))
    await files.discard(staged)
    await files.discard(staged)
    assert.equal(await leftovers(files), 0)
  })

  test('a sweep removes old staged files and spares young ones', async (t) => {
    const files = await makeFiles(t)
    await stageBytes(files, Buffer.from('abc'))
    const nowMs = Date.now()
    assert.equal(await files.sweep({ olderThanMs: HOUR_MS, nowMs }), 0)
    assert.equal(await files.sweep({ olderThanMs: HOUR_MS, nowMs: nowMs + 7_200_000 }), 1)
    assert.equal(await leftovers(files), 0)
  })
}

function storingConformance(makeFiles: MakeFiles) {
  test('a published file is read back as it was sent, and its staged file is used up', async (t) => {
    const files = await makeFiles(t)
    const bytes = Buffer.from('published bytes')
    const staged = await stageBytes(files, bytes)
    await files.publish(staged, 'projects/AABBccdd/v1/some-file_1.0.jar', OPTIONS)
    assert.deepEqual(await read(files, 'projects/AABBccdd/v1/some-file_1.0.jar'), bytes)
    assert.deepEqual(await files.stat('projects/AABBccdd/v1/some-file_1.0.jar'), { sizeBytes: bytes.length })
    await files.discard(staged)
    assert.equal(await leftovers(files), 0)
  })

  test('bytes from memory are stored, and stored again they replace the old ones', async (t) => {
    const files = await makeFiles(t)
    await files.put('icons/a.webp', Buffer.from('old and long'), { contentType: 'image/webp' })
    await files.put('icons/a.webp', Buffer.from('new'), { contentType: 'image/webp' })
    assert.equal(String(await read(files, 'icons/a.webp')), 'new')
    assert.equal(await leftovers(files), 0)
  })

  test('many files are stored in one call, new and existing ones, and have the stored content', async (t) => {
    const files = await makeFiles(t)
    await files.put('many/0/file.txt', Buffer.from('old and long'), OPTIONS)
    const items = Array.from({ length: 40 }, (_, n) => ({
      key: `many/${n % 7}/${n === 0 ? 'file.txt' : n}`,
      bytes: Buffer.from(`content ${n}`),
      ...OPTIONS,
    }))
    await files.putAll(items)
    await files.flush()
    for (const { key, bytes } of items) assert.deepEqual(await read(files, key), bytes)
    await files.putAll([])
    assert.equal(await leftovers(files), 0)
  })

  test('a file from a stream is stored and replaces an existing one; an error of the stream is thrown as it is', async (t) => {
    const files = await makeFiles(t)
    const chunks = [Buffer.alloc(300_000, 'a'), Buffer.alloc(1, 'b'), Buffer.alloc(700_000, 'c')]
    const content = Buffer.concat(chunks)
    await files.put('large/a/file.jar', Buffer.alloc(content.length + 1), OPTIONS)
    for (const key of ['large/a/file.jar', 'large/b/file.jar']) {
      const size = await files.putStream(key, Readable.from(chunks), { ...OPTIONS, maxBytes: content.length })
      assert.equal(size, content.length)
      assert.deepEqual(await read(files, key), content)
    }
    const problem = new Error('The source failed')
    async function* failing(): AsyncGenerator<Buffer> {
      yield Buffer.from('abc')
      throw problem
    }
    const options = { ...OPTIONS, maxBytes: 10 }
    await assert.rejects(files.putStream('large/c', Readable.from(failing()), options), (error) => error === problem)
    await files.flush()
    assert.equal(await leftovers(files), 0)
  })

  test('many files are read in one call, in the order of the keys; missing and larger files are marked', async (t) => {
    const files = await makeFiles(t)
    const keys = Array.from({ length: 40 }, (_, n) => `many/${n % 7}/${n}`)
    await files.putAll(keys.map((key, n) => ({ key, bytes: Buffer.alloc(n, 'x'), ...OPTIONS })))
    const found = await files.readAll(['many/none', ...keys.toReversed(), 'many/0', 'many/0/0'], { maxBytes: 38 })
    const expected = keys.map((_, n) => (n > 38 ? 'larger' : Buffer.alloc(n, 'x'))).toReversed()
    assert.deepEqual(found, [undefined, ...expected, undefined, Buffer.alloc(0)])
    assert.deepEqual(await files.readAll([], { maxBytes: 1 }), [])
  })

  test('publishing what was discarded is an error of the store and leaves nothing under the key', async (t) => {
    const files = await makeFiles(t)
    const staged = await stageBytes(files, Buffer.from('abc'))
    await files.discard(staged)
    await assert.rejects(files.publish(staged, 'a/b.jar', OPTIONS), isErrorKind('file_hosting_error'))
    assert.equal(await files.stat('a/b.jar'), undefined)
  })

  test('a removed file is deleted, others stay, and removing it again does nothing', async (t) => {
    const files = await makeFiles(t)
    await files.put('p/v/one.jar', Buffer.from('1'), OPTIONS)
    await files.put('p/v/two.jar', Buffer.from('2'), OPTIONS)
    await files.remove('p/v/one.jar')
    await files.remove('p/v/one.jar')
    assert.equal(await files.open('p/v/one.jar'), undefined)
    assert.equal(String(await read(files, 'p/v/two.jar')), '2')
  })

  test('files of one folder can be published and removed at the same time', async (t) => {
    const files = await makeFiles(t)
    const keys = Array.from({ length: 20 }, (_, i) => `p/v/${i}.jar`)
    await Promise.all(keys.map((key) => files.put(key, Buffer.from(key), OPTIONS)))
    const half = keys.filter((_, i) => i % 2 === 0)
    await Promise.all([
      ...half.map((key) => files.remove(key)),
      ...half.map((key) => files.put(`${key}.next`, Buffer.from(key), OPTIONS)),
    ])
    const present = await Promise.all([...keys, ...half.map((key) => `${key}.next`)].map((key) => files.stat(key)))
    assert.equal(present.filter((info) => info !== undefined).length, 20)
  })

  test('a key that is empty, hidden, too long or climbs out is refused by every operation', async (t) => {
    const files = await makeFiles(t)
    const bad = ['', '/', 'a//b', '/a', 'a/', '.', '..', 'a/../b', '../a', 'a/.hidden', 'a b', 'a\\b', 'a\0b', 'ä']
    for (const key of [...bad, 'x'.repeat(256), 'x/'.repeat(300)]) {
      const staged = await stageBytes(files, Buffer.from('abc'))
      const calls = [
        async () => files.publish(staged, key, OPTIONS),
        async () => files.put(key, Buffer.from('abc'), OPTIONS),
        async () => files.open(key),
        async () => files.stat(key),
        async () => files.remove(key),
      ]
      for (const call of calls) await assert.rejects(call(), /Not a file key/)
      await files.discard(staged)
    }
    assert.equal(await leftovers(files), 0)
  })

  test('a store in order passes its check and keeps nothing of it', async (t) => {
    const files = await makeFiles(t)
    await files.check()
    assert.equal(await leftovers(files), 0)
  })
}

function readingConformance(makeFiles: MakeFiles) {
  test('the list names every key with its size, and nothing that is only staged', async (t) => {
    const files = await makeFiles(t)
    const stored = { 'a/b/one': 3, 'a/two': 0, three: 70_000 }
    for (const [key, size] of Object.entries(stored)) await files.put(key, Buffer.alloc(size), OPTIONS)
    await stageBytes(files, Buffer.from('staged'))
    const listed: Record<string, number> = {}
    for await (const { key, sizeBytes } of files.list()) listed[key] = sizeBytes
    assert.deepEqual(listed, stored)
  })

  test('an absent key, and the folder of a file, are absent', async (t) => {
    const files = await makeFiles(t)
    await files.put('a/b/c.jar', Buffer.from('abc'), OPTIONS)
    for (const key of ['a/b/d.jar', 'a/b', 'nothing']) {
      assert.equal(await files.open(key), undefined)
      assert.equal(await files.stat(key), undefined)
    }
  })

  test('a range gives its bytes, both ends included, and the size of the whole file', async (t) => {
    const files = await makeFiles(t)
    await files.put('f.jar', Buffer.from('0123456789'), OPTIONS)
    for (const [range, expected] of [
      [{ start: 2, end: 4 }, '234'],
      [{ start: 9 }, '9'],
      [{ start: 0, end: 0 }, '0'],
      [{ end: 3 }, '0123'],
      [{ start: 5, end: 500 }, '56789'],
    ] as const) {
      const opened = await files.open('f.jar', range)
      assert.ok(opened)
      assert.equal(opened.sizeBytes, 10)
      assert.equal(String(await buffer(opened.stream)), expected)
    }
  })

  test('a range that starts at the end, or ends before it starts, is not satisfiable', async (t) => {
    const files = await makeFiles(t)
    await files.put('f.jar', Buffer.from('0123456789'), OPTIONS)
    await files.put('empty.jar', Buffer.alloc(0), OPTIONS)
    await assert.rejects(files.open('f.jar', { start: 10 }), isErrorKind('range_not_satisfiable'))
    await assert.rejects(files.open('f.jar', { start: 5, end: 4 }), isErrorKind('range_not_satisfiable'))
    await assert.rejects(files.open('empty.jar', { start: 0, end: 5 }), isErrorKind('range_not_satisfiable'))
    assert.equal((await read(files, 'empty.jar'))?.length, 0)
  })

  test('a reader keeps its bytes while the file is replaced and removed', async (t) => {
    const files = await makeFiles(t)
    const old = Buffer.alloc(2_000_000, 1)
    await files.put('f.jar', old, OPTIONS)
    const opened = await files.open('f.jar')
    assert.ok(opened)
    await files.put('f.jar', Buffer.alloc(2_000_000, 2), OPTIONS)
    await files.remove('f.jar')
    assert.ok((await buffer(opened.stream)).equals(old))
  })
}
