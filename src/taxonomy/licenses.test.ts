import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '#lib/errors.ts'
import { isOpenSource, licenseName, licenseText, listLicenses, parseLicense } from './licenses.ts'

function refusal(text: string): string {
  let message = ''
  assert.throws(
    () => parseLicense(text),
    (error) => {
      assert.ok(error instanceof ApiError && error.kind === 'validation_error')
      assert.deepEqual(error.details, { field: 'license_id', message: error.message.replace('Field license_id: ', '') })
      message = error.message
      return true
    },
    `${text} is accepted`,
  )
  return message
}

test('an expression is stored with single spaces and operators in upper case', () => {
  const stored = {
    MIT: 'MIT',
    ' MIT  or ( Apache-2.0 and ISC ) ': 'MIT OR (Apache-2.0 AND ISC)',
    'MIT OR(ISC)': 'MIT OR (ISC)',
    'EPL-2.0+': 'EPL-2.0+',
    'GPL-3.0-or-later WITH Classpath-exception-2.0': 'GPL-3.0-or-later WITH Classpath-exception-2.0',
    'GPL-3.0-only with AdditionRef-Linking': 'GPL-3.0-only WITH AdditionRef-Linking',
    'LicenseRef-Unknown': 'LicenseRef-Unknown',
    'DocumentRef-spdx.tool-1.2:LicenseRef-x': 'DocumentRef-spdx.tool-1.2:LicenseRef-x',
    'BSD-3-Clause AND MIT OR ISC': 'BSD-3-Clause AND MIT OR ISC',
  }
  for (const [text, expected] of Object.entries(stored)) assert.equal(parseLicense(text), expected)
})

test('ARR in any case is All Rights Reserved, also when it is stored again', () => {
  for (const text of ['arr', 'ARR', 'Arr', 'LicenseRef-All-Rights-Reserved'])
    assert.equal(parseLicense(text), 'LicenseRef-All-Rights-Reserved')
  refusal('ARR OR MIT')
})

test('rejects invalid SPDX expressions with the invalid term', () => {
  assert.match(refusal('mit'), /mit is not an SPDX licence identifier/)
  assert.match(refusal('MIT Or ISC'), /Or must be all upper or all lower case/)
  assert.match(refusal('GPL-2.0-only+'), /cannot have a \+/)
  assert.match(refusal('MIT WITH MIT'), /MIT is not an SPDX exception/)
  for (const text of ['', ' ', 'custom', 'MIT/ISC', 'MIT ISC', '(MIT', 'MIT)', 'AND', 'MIT OR', 'MIT WITH', 'MIT +'])
    refusal(text)
  for (const text of ['LicenseRef-a_b', 'LicenseRef a', 'MIT ANDISC', 'constructor', '__proto__', '+', '()'])
    refusal(text)
})

test('every deprecated identifier is rejected, with its successors where there are any', () => {
  assert.match(refusal('GPL-3.0'), /use GPL-3\.0-only or GPL-3\.0-or-later/)
  const library = createRequire(createRequire(import.meta.url).resolve('spdx-expression-parse'))
  const deprecated = library('spdx-license-ids/deprecated') as string[]
  const withPlus = listLicenses().filter(({ short }) => short.endsWith('+'))
  for (const id of [...deprecated, ...withPlus.map(({ short }) => short)]) assert.match(refusal(id), /deprecated/)
  assert.equal(new Set([...deprecated, ...withPlus.map(({ short }) => short)]).size, 32)
})

test('every identifier of the list that is not deprecated is accepted, and has a name and a text', async () => {
  for (const { short, name } of listLicenses()) {
    assert.ok(name.length > 0)
    let accepted = true
    try {
      assert.equal(parseLicense(short), short)
    } catch {
      accepted = false
    }
    if (accepted) assert.equal(licenseName(short), name)
  }
})

test('every text is that of the SPDX license list', async () => {
  const { resolve } = createRequire(import.meta.url)
  for (const { short } of listLicenses()) {
    const source = JSON.parse(await readFile(resolve(`spdx-license-list/licenses/${short}.json`), 'utf8'))
    assert.deepEqual(await licenseText(short), { title: source.name, body: source.licenseText })
  }
})

test('length and nesting are bounded', () => {
  refusal(`LicenseRef-${'x'.repeat(2048)}`)
  assert.equal(parseLicense(`LicenseRef-${'x'.repeat(2037)}`).length, 2048)
  refusal('('.repeat(2048))
  refusal(Array(200).fill('MIT').join(' OR '))
  assert.equal(parseLicense(`${'('.repeat(100)}MIT${')'.repeat(100)}`).length, 203)
})

test('any text is either rejected with a validation error or stored in a form that is stable', () => {
  const words = fc.constantFrom(
    'MIT',
    'ISC+',
    'or',
    'AND',
    'With',
    'WITH',
    '(',
    ')',
    'LicenseRef-a',
    'GPL-2.0',
    'x',
    '+',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(words).map((list) => list.join(' ')),
      ),
      (text) => {
        try {
          const stored = parseLicense(text)
          assert.equal(parseLicense(stored), stored)
        } catch (error) {
          assert.ok(error instanceof ApiError && error.kind === 'validation_error')
        }
      },
    ),
  )
})

test('the name of an expression joins the full names in order, without exceptions and references', () => {
  assert.equal(licenseName('MIT OR (Apache-2.0 AND ISC)'), 'MIT License, Apache License 2.0, ISC License')
  assert.equal(licenseName('GPL-3.0-or-later WITH Classpath-exception-2.0'), 'GNU General Public License v3.0 or later')
  assert.equal(licenseName('LicenseRef-All-Rights-Reserved'), '')
  assert.equal(licenseName('LicenseRef-x OR MIT'), 'MIT License')
})

test('the first word of an expression decides whether it is open source', () => {
  assert.equal(isOpenSource('MIT OR LicenseRef-x'), true)
  assert.equal(isOpenSource('(EPL-2.0+ AND MIT)'), true)
  assert.equal(isOpenSource('CC-BY-4.0 OR MIT'), false)
  assert.equal(isOpenSource('LicenseRef-All-Rights-Reserved'), false)
})

test('a text is found by identifier, with a + ignored, and by both forms of All Rights Reserved', async () => {
  assert.deepEqual(await licenseText('arr'), await licenseText('LicenseRef-All-Rights-Reserved'))
  assert.equal((await licenseText('MIT')).title, 'MIT License')
  assert.match((await licenseText('MIT')).body, /Permission is hereby granted/)
  assert.deepEqual(await licenseText('MIT+'), await licenseText('MIT'))
  assert.match((await licenseText('GPL-2.0')).title, /General Public License/)
})

test('an unknown identifier, an expression and a malformed text are not found', async () => {
  for (const id of ['custom', 'LicenseRef-x', 'constructor', '', 'MIT OR ISC', '../MIT', '__proto__', 'MIT\0'])
    await assert.rejects(licenseText(id), { kind: 'not_found' })
})
