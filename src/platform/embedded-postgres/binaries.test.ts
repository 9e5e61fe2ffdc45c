import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { findPostgresPackage, type PostgresPackage, runnableBinaries } from './binaries.ts'
import type { SystemUser } from './system-user.ts'

const base = mkdtempSync(join(tmpdir(), 'depot-test-'))
chmodSync(base, 0o711)
after(() => rmSync(base, { recursive: true, force: true }))

// Nobody owns files as this user, so that the bits for others decide.
const stranger: SystemUser = { name: 'stranger', uid: 4_000_001, gid: 4_000_001 }

/** A package as npm lays it down without install scripts: no links. */
function makePackage(name: string, mode: number): PostgresPackage {
  const nativeDir = join(base, name, 'native')
  for (const folder of ['bin', 'lib', 'share/postgresql']) mkdirSync(join(nativeDir, folder), { recursive: true })
  writeFileSync(join(nativeDir, 'bin/postgres'), 'program', { mode: 0o755 })
  writeFileSync(join(nativeDir, 'lib/libpq.so.5.18'), 'library', { mode: 0o600 })
  writeFileSync(join(nativeDir, 'lib/libpq.a'), 'not for running')
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }]
  writeFileSync(join(nativeDir, 'pg-symlinks.json'), JSON.stringify(links))
  chmodSync(join(base, name), mode)
  return { nativeDir, version: '18.4.0', major: 18 }
}

test('the package of this platform is found with its version', async () => {
  const { nativeDir, major } = await findPostgresPackage()
  assert.ok(statSync(join(nativeDir, 'bin', 'initdb')).isFile())
  assert.equal(major, 18)
})

test('a reachable package is used where it is, with the links made that npm left out', async () => {
  const open = makePackage('open', 0o755)
  const used = await runnableBinaries(open, { user: stranger, copyRoot: join(base, 'unused') })
  assert.equal(used, open.nativeDir)
  assert.equal(readlinkSync(join(used, 'lib/libpq.so.5')), 'libpq.so.5.18')
  assert.equal(await runnableBinaries(open, { user: undefined, copyRoot: join(base, 'unused') }), open.nativeDir)
})

test('from a package that the user cannot enter one complete copy is made, however many ask, and the package is left alone', async () => {
  const closed = makePackage('closed', 0o700)
  const copyRoot = join(base, 'copies')
  const copies = await Promise.all([1, 2, 3].map(() => runnableBinaries(closed, { user: stranger, copyRoot })))
  assert.equal(new Set(copies).size, 1)
  const [copy = ''] = copies
  assert.deepEqual(readdirSync(copyRoot), [copy.slice(copyRoot.length + 1)])
  assert.equal(readFileSync(join(copy, 'lib/libpq.so.5'), 'utf8'), 'library')
  assert.equal(statSync(join(copy, 'lib/libpq.so.5')).mode & 0o777, 0o644)
  assert.equal(statSync(join(copy, 'bin/postgres')).mode & 0o777, 0o755)
  assert.deepEqual(readdirSync(join(copy, 'lib')).sort(), ['libpq.so.5', 'libpq.so.5.18'])
  assert.deepEqual(readdirSync(join(closed.nativeDir, 'lib')).sort(), ['libpq.a', 'libpq.so.5.18'])
  assert.equal(await runnableBinaries(closed, { user: stranger, copyRoot }), copy)
})
