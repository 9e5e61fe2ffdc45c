import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseRfc3339 } from './rfc3339.ts'

test('every form of the standard is read, in any offset', () => {
  const noon = Date.UTC(2024, 1, 29, 12)
  const forms = {
    '2024-02-29T12:00:00Z': noon,
    '2024-02-29t12:00:00z': noon,
    '2024-02-29 12:00:00Z': noon,
    '2024-02-29T12:00:00.5Z': noon + 500,
    '2024-02-29T12:00:00.123987654321Z': noon + 123,
    '2024-02-29T14:30:00+02:30': noon,
    '2024-02-29T02:00:00-10:00': noon,
    '2024-03-01T02:00:00+14:00': noon,
    '2024-02-29T12:00:00-00:00': noon,
    '1969-12-31T23:59:59.999Z': -1,
  }
  for (const [text, ms] of Object.entries(forms)) assert.equal(parseRfc3339(text), ms, text)
})

test('rejects invalid timestamps and times that do not exist', () => {
  const invalid = [
    '',
    'now',
    '2024-02-29',
    '2024-02-29T12:00Z',
    '2024-02-29T12:00:00',
    '2024-02-29T12:00:00.Z',
    '2024-02-29T12:00:00+0200',
    '2024-02-29T12:00:00+24:00',
    '2024-02-29T12:00:00+02:60',
    '2023-02-29T12:00:00Z',
    '1900-02-29T12:00:00Z',
    '2024-02-30T12:00:00Z',
    '2024-04-31T12:00:00Z',
    '2024-13-01T12:00:00Z',
    '2024-00-01T12:00:00Z',
    '2024-01-00T12:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T12:60:00Z',
    '2016-12-31T23:59:60Z',
    '+02024-02-29T12:00:00Z',
    ' 2024-02-29T12:00:00Z',
    '2024-02-29T12:00:00Z\n',
    '２０２４-02-29T12:00:00Z',
    '1709208000000',
  ]
  for (const text of invalid) assert.equal(parseRfc3339(text), undefined, text)
})

test('every instant of the years 0 to 9999 is read back', () => {
  const instants = fc.date({
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  })
  fc.assert(fc.property(instants, (date) => parseRfc3339(date.toISOString()) === date.getTime()))
})
