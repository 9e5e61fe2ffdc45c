import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from 'uqr'
import { qrCode } from './qr-code.ts'

const URI =
  'otpauth://totp/Depot:somebody?issuer=Depot&secret=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567&algorithm=SHA1&digits=6&period=30'

/** The modules that a path of rectangles covers, each one once. */
function modulesOf({ side, path }: { side: number; path: string }): boolean[][] {
  const modules = Array.from({ length: side }, () => Array.from({ length: side }, () => false))
  const rest = path.replaceAll(/M(\d+) (\d+)h(\d+)v1h-(\d+)z/g, (_, x, y, length, back) => {
    assert.equal(length, back)
    for (let i = 0; i < Number(length); i += 1) {
      assert.equal(modules[Number(y)]?.[Number(x) + i], false)
      Object.assign(modules[Number(y)] ?? [], { [Number(x) + i]: true })
    }
    return ''
  })
  assert.equal(rest, '')
  return modules
}

test('the QR code contains the modules of the text, with a border of four light modules', () => {
  const modules = modulesOf(qrCode(URI))
  assert.deepEqual(modules, encode(URI, { ecc: 'M', border: 4 }).data)
  const inner = modules.slice(4, -4).map((row) => row.slice(4, -4))
  assert.deepEqual(inner, encode(URI, { ecc: 'M', border: 0 }).data)
  assert.equal(modules.flat().filter(Boolean).length, inner.flat().filter(Boolean).length)
  // The squares by which cameras find it: in three corners, dark from edge to edge.
  for (const [x, y] of [
    [0, 0],
    [inner.length - 7, 0],
    [0, inner.length - 7],
  ] as const) {
    assert.ok(inner.slice(y, y + 7).every((row) => row[x] && row[x + 6]))
    assert.ok(inner[y]?.slice(x, x + 7).every(Boolean) && inner[y + 6]?.slice(x, x + 7).every(Boolean))
  }
})

test('another text results in another QR code, and a long name still fits', () => {
  assert.notEqual(qrCode(URI).path, qrCode(URI.replace('ABC', 'ABD')).path)
  const longest = URI.replace('somebody', 'x'.repeat(39))
  assert.ok(qrCode(longest).side <= 61)
})
