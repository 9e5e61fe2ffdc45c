// The tar files of backups: the reader and the program `tar` can read them, and the reader rejects damaged ones.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { type Headers, pack } from 'tar-stream'
import { BLOCK, type Head } from './archive-format.ts'
import { createArchiveWriter } from './archive-writer.ts'
import { createMemberReader } from './member-reader.ts'

const NAMES = [
  'files/a',
  `files/${'n'.repeat(94)}`,
  `files/${'n'.repeat(95)}`,
  `files/${'long/'.repeat(100)}x`,
  'files/é',
]
const CONTENTS = NAMES.map((name, n) => ({ name, bytes: Buffer.alloc(n * 300, String(n)) }))

/** Creates a writer whose output is discarded. */
async function discarding() {
  const sink = new PassThrough().resume()
  return { sink, writer: await createArchiveWriter({ created: '2026-11-28T00:00:00Z' } as Head, sink) }
}

async function archiveOf(files: readonly { name: string; bytes: Buffer }[]): Promise<Buffer> {
  const sink = new PassThrough()
  const whole = buffer(sink)
  const writer = await createArchiveWriter({ created: '2026-11-28T00:00:00Z' } as Head, sink)
  for (const [n, { name, bytes }] of files.entries()) {
    if (n % 2 === 0) await writer.add(name, bytes)
    else await writer.addStream(name, bytes.length, [bytes])
  }
  const { bytes } = await writer.finish()
  await writer.dispose()
  const archive = await whole
  assert.equal(archive.length, bytes)
  return archive
}

/** Reads the members in chunks of a size that divides neither blocks nor members. */
async function readAll(archive: Buffer): Promise<{ name: string; bytes: Buffer }[]> {
  const chunks = Array.from({ length: Math.ceil(archive.length / 700) }, (_, n) =>
    archive.subarray(n * 700, n * 700 + 700),
  )
  const reader = createMemberReader(Readable.from(chunks, { objectMode: false }))
  const found: { name: string; bytes: Buffer }[] = []
  for (let member = await reader.next(); member !== undefined; member = await reader.next()) {
    const bytes = await member.bytes()
    assert.equal(bytes.length, member.size)
    assert.equal(await member.sha256(), hash('sha256', bytes))
    found.push({ name: member.name, bytes })
  }
  return found
}

describe('the tar file of a backup', () => {
  test('has members with names of any length, which are read back', async () => {
    const found = await readAll(await archiveOf(CONTENTS))
    assert.deepEqual(found.slice(1, -2), CONTENTS)
  })

  test('is read by the program tar', {
    skip: spawnSync('tar', ['--version']).status === 0 ? false : 'there is no tar here',
  }, async () => {
    const input = await archiveOf(CONTENTS)
    const env = { ...process.env, LC_ALL: 'C.UTF-8' }
    const listed = spawnSync('tar', ['-tf', '-', '--quoting-style=literal'], { input, env })
    assert.deepEqual(String(listed.stdout).trimEnd().split('\n').slice(1, -2), NAMES, String(listed.stderr))
    for (const { name, bytes } of CONTENTS) {
      const taken = spawnSync('tar', ['-xOf', '-', name], { input, env })
      assert.deepEqual(taken.stdout, bytes, String(taken.stderr))
    }
  })

  test('is rejected if any byte of a header was changed', async () => {
    const archive = await archiveOf([])
    for (let at = 0; at < BLOCK; at += 1) {
      // These only end the checksum.
      if (at === 154 || at === 155) continue
      const changed = Buffer.from(archive)
      changed[at] = (changed[at] ?? 0) ^ 4
      await assert.rejects(readAll(changed), /header of its tar file is broken/, `byte ${at}`)
    }
  })

  test('is rejected if it ends in a header or in a member, and a part of a member is not returned', async () => {
    const archive = await archiveOf([{ name: 'files/a', bytes: Buffer.alloc(5000) }])
    for (const length of [1, BLOCK - 1, BLOCK + 1, 3 * BLOCK + 700])
      await assert.rejects(readAll(archive.subarray(0, length)), /truncated/, String(length))
  })

  test('is rejected with anything but files', async () => {
    for (const type of ['symlink', 'link', 'directory', 'fifo', 'block-device'] as const) {
      const tar = pack()
      const header: Headers = { name: 'files/other', type, linkname: '/etc/passwd' }
      tar.entry(header)
      tar.finalize()
      await assert.rejects(readAll(await buffer(tar)), /files\/other.* is not a regular file/, type)
    }
  })

  test('rejects content that is longer or shorter than its size', async () => {
    for (const size of [4, 6]) {
      const { writer } = await discarding()
      await assert.rejects(writer.addStream('files/a', size, [Buffer.from('three')]), {
        message: `files/a does not have the expected ${size} bytes`,
      })
      await writer.dispose()
    }
  })

  test('reports the error of its stream', async () => {
    const { sink, writer } = await discarding()
    sink.destroy(new Error('the disk is full'))
    const write = async () => {
      for (;;) await writer.add('files/a', Buffer.alloc(100_000))
    }
    await assert.rejects(write, /the disk is full/)
    await writer.dispose()
  })

  test('continues with the next member if a stream of a member was destroyed', async () => {
    const archive = await archiveOf([{ name: 'files/a', bytes: Buffer.alloc(500_000, 1) }])
    const reader = createMemberReader(Readable.from([archive], { objectMode: false }))
    await reader.next()
    const member = await reader.next()
    for await (const _ of member?.stream() ?? []) break
    assert.equal((await reader.next())?.name, 'manifest.jsonl')
  })
})
