import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { BLOCK, paddingOf, readPaxName, readTarHeader, TAR_END, tarHeader } from './tar-blocks.ts'

const MTIME = 1_700_000_000
const NAMES = [
  'files/a',
  `files/${'n'.repeat(94)}`,
  `files/${'n'.repeat(95)}`,
  `files/${'long/'.repeat(100)}x`,
  'files/é',
]
const CONTENTS = NAMES.map((name, n) => ({ name, bytes: Buffer.alloc(n * 300, String(n)) }))

/** Reads the blocks before a member as a reader would. */
function readBack(blocks: Buffer): { name: string | undefined; size: number | undefined } {
  const first = readTarHeader(blocks.subarray(0, BLOCK))
  if (first?.kind !== 'pax') return { name: first?.name, size: first?.size }
  const second = readTarHeader(blocks.subarray(-BLOCK))
  return { name: readPaxName(blocks.subarray(BLOCK, BLOCK + first.size)), size: second?.size }
}

describe('headers of a tar file', () => {
  test('a name of any length and a size up to 8 GiB are read back', () => {
    for (const name of NAMES) {
      for (const size of [0, 1, 511, 512, 0o77777777777]) {
        const blocks = tarHeader({ name, size, mtime: MTIME })
        assert.equal(blocks.length % BLOCK, 0)
        assert.deepEqual(readBack(blocks), { name, size })
      }
    }
    assert.throws(() => tarHeader({ name: 'a', size: 0o77777777777 + 1, mtime: MTIME }), RangeError)
  })

  test('rejects an empty block, and notices a changed byte anywhere', () => {
    assert.equal(readTarHeader(Buffer.alloc(BLOCK)), undefined)
    const block = tarHeader({ name: 'rows/a', size: 77, mtime: MTIME })
    for (let at = 0; at < BLOCK; at += 1) {
      const changed = Buffer.from(block)
      changed[at] = (changed[at] ?? 0) ^ 4
      assert.throws(() => readTarHeader(changed), /header of its tar file is broken/, `byte ${at}`)
    }
  })

  test('rejects invalid records of a long name', () => {
    for (const text of ['', 'x', '9 path', '0 path=a\n', '-4 path=a\n', '12 other=ab\n', ' ', '5 a=b\n'])
      assert.throws(() => readPaxName(Buffer.from(text)), /long name/)
  })

  test('the program tar reads them', {
    skip: spawnSync('tar', ['--version']).status === 0 ? false : 'there is no tar here',
  }, () => {
    const parts = CONTENTS.flatMap(({ name, bytes }) => [
      tarHeader({ name, size: bytes.length, mtime: MTIME }),
      bytes,
      Buffer.alloc(paddingOf(bytes.length)),
    ])
    const env = { ...process.env, LC_ALL: 'C.UTF-8' }
    const input = Buffer.concat([...parts, TAR_END])
    const listed = spawnSync('tar', ['-tf', '-', '--quoting-style=literal'], { input, env })
    assert.deepEqual(String(listed.stdout).trimEnd().split('\n'), NAMES, String(listed.stderr))
    for (const { name, bytes } of CONTENTS) {
      const taken = spawnSync('tar', ['-xOf', '-', name], { input, env })
      assert.deepEqual(taken.stdout, bytes, String(taken.stderr))
    }
  })
})
