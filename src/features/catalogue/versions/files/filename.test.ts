import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { readTestRules } from '#test/support/factories/file-rules.ts'
import { checkFilename } from './filename.ts'

const rules = readTestRules()

test('each known extension is taken in any case, with its content type', () => {
  const known = {
    jar: ['application/java-archive', true],
    zip: ['application/zip', true],
    litemod: ['application/zip', true],
    mrpack: [rules.extensions['mrpack']?.content_type, true],
    asc: ['application/pgp-signature', false],
    gpg: ['application/pgp-signature', false],
    sig: ['application/pgp-signature', false],
  }
  for (const [extension, [contentType, isArchive]] of Object.entries(known)) {
    for (const filename of [`my mod-1.0+x.${extension}`, `A.${extension.toUpperCase()}`])
      assert.deepEqual(checkFilename(rules, 'f', filename), { filename, extension, contentType, isArchive })
  }
})

test('accepts common file names', () => {
  const names = [
    'a.jar',
    'Über mod.jar',
    '模组[1.20].jar',
    '.hidden.jar',
    'a..jar',
    "it's (new) & free!.jar",
    'console.jar',
  ]
  for (const name of [...names, 'com10.jar', 'nulls.jar', `${'x'.repeat(251)}.jar`])
    assert.equal(checkFilename(rules, 'f', name).filename, name)
})

test('names that are unsafe somewhere are rejected, naming the part', () => {
  const climbing = ['../x.jar', '..\\x.jar', '/x.jar', 'a/b.jar', 'C:\\x.jar', 'C:x.jar', '.', '..']
  const devices = [
    'CON.jar',
    'con.jar',
    'PRN.jar',
    'aux.zip',
    'NUL',
    'nul.jar',
    'COM1.jar',
    'com9.x.jar',
    'LPT1.jar',
    'lpt9.jar',
  ]
  const characters = [
    'a\0.jar',
    'a\n.jar',
    'a\u007f.jar',
    'a\u0085.jar',
    'a\u202ejar.exe.jar',
    'a\u200f.jar',
    'a\u200e.jar',
    'a\u061c.jar',
    'a\u200b.jar',
    'a\ufeff.jar',
    'a\ufffd.jar',
    'a\ud800.jar',
    'a?.jar',
    'a*.jar',
    'a".jar',
  ]
  const endings = ['a.jar.', 'a.jar ', '', `${'x'.repeat(252)}.jar`, `${'é'.repeat(126)}.jar`]
  for (const name of [...climbing, ...devices, ...characters, ...endings]) {
    assert.throws(
      () => checkFilename(rules, 'part-1', name),
      (error: unknown) => {
        assert.ok(error instanceof ApiError)
        assert.equal(error.kind, 'invalid_input')
        assert.deepEqual(error.details, { field: 'part-1', message: error.message })
        return true
      },
      JSON.stringify(name),
    )
  }
})

test('other extensions, and an extension alone, are rejected', () => {
  for (const name of ['a', 'a.', 'a.exe', 'a.jar.exe', 'jar', '.jar', 'a.tar.gz', 'a.constructor', 'a.__proto__'])
    assert.throws(() => checkFilename(rules, 'f', name), ApiError, name)
})
