// The files of a release: their checksums, the bill of materials, the licences, and that two builds are equal.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openShell } from '#test/support/processes/documented-steps.ts'
import { emptyFolder, installSteps, noRelease, RELEASE, VERSION } from './release.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string): string => readFileSync(join(RELEASE, name), 'utf8')

test('the checksums are those of the files', { skip: noRelease }, async () => {
  const { folder, remove } = emptyFolder()
  execFileSync('cp', ['-r', RELEASE, join(folder, 'release')])
  const shell = openShell(join(folder, 'release'))
  after(async () => {
    await shell.end()
    remove()
  })
  const [step] = installSteps('Checksums')
  assert.deepEqual(await shell.run(step?.script ?? ''), [])
  await assert.rejects(
    shell.run(`echo x >> depot-hosting-${VERSION}.tgz; ${step?.script}`),
    /depot-hosting-.*tgz: FAILED/,
  )
})

test('the bill of materials and the licences name every package that a release contains', { skip: noRelease }, () => {
  const bill = JSON.parse(read(`depot-${VERSION}.cdx.json`)) as { components: { name: string; version: string }[] }
  const names = new Set(bill.components.map(({ name, version }) => `${name} ${version}`))
  const { peerDependencies, dependencies, devDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  )
  for (const [name, version] of Object.entries({ ...dependencies, ...peerDependencies }))
    assert.ok(names.has(`${name} ${version}`), name)
  const tools = Object.keys(devDependencies).filter((name) => !(name in peerDependencies))
  const all = new Set(bill.components.map(({ name }) => name))
  assert.deepEqual(
    tools.filter(
      (name) => all.has(name) && !name.startsWith('@types/') && name !== 'yaml' && name !== 'spdx-license-ids',
    ),
    [],
  )
  const listed = [...read(`depot-${VERSION}-licences.txt`).matchAll(/^={80}\n\n(\S+ \S+): \S+/gm)].map(
    ([, name = '']) => name,
  )
  assert.ok(listed.length > 200)
  assert.deepEqual(
    listed.filter((name) => !names.has(name)),
    [],
  )
  assert.doesNotMatch(read(`depot-${VERSION}-licences.txt`), /: undefined$/m)
})

const withoutDebian =
  noRelease === false && globSync('*.deb', { cwd: RELEASE }).length === 0 ? ['--without-debian'] : []

test('a second build of the commit has the same checksums', { skip: noRelease }, () => {
  const { folder, remove } = emptyFolder()
  after(remove)
  const words = ['run', '--silent', 'release', '--', '--untagged', ...withoutDebian, '--folder', join(folder, 'again')]
  // The checkout's Node.js is first in the path.
  execFileSync('npm', words, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  assert.equal(readFileSync(join(folder, 'again/SHA256SUMS'), 'utf8'), read('SHA256SUMS'))
})
