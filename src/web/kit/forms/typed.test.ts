import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dateOf, decimalOf, wholeOf } from './typed.ts'

test('decimals have the form of the language of the page, or another form that can mean only one number', () => {
  for (const [tag, typed, plain] of [
    ['de', '0,5', '0.5'],
    ['de', '0.5', '0.5'],
    ['de', '1.234,50', '1234.50'],
    ['de', '1,234.50', '1234.50'],
    ['de', '1.234', '1234'],
    ['de', '1,234', '1.234'],
    ['en', '1,234', '1234'],
    ['en', '1.234', '1.234'],
    ['en', '1.234.567,5', '1234567.5'],
    ['en', ' 12 ', '12'],
    ['en', '1 234.5', '1234.5'],
    ['en', '0.00000001', '0.00000001'],
    ['en', '1,23,4', '1,23,4'],
    // A group cannot begin with zero: it is a fraction.
    ['en', '0,001', '0.001'],
    ['de', '0.001', '0.001'],
    ['en', '-5', '-5'],
    ['de', '5 EUR', '5 EUR'],
    ['en', '', ''],
    ['en', '.5', '.5'],
  ] as const)
    assert.equal(decimalOf(tag, typed), plain, `${tag} ${typed}`)
})

test('whole numbers can have groups', () => {
  for (const [typed, plain] of [
    ['1.000', '1000'],
    ['1,000,000', '1000000'],
    ['12 000', '12000'],
    [' 7 ', '7'],
    ['1.00', '1.00'],
    ['1000.000', '1000.000'],
    ['many', 'many'],
  ] as const)
    assert.equal(wholeOf(typed), plain, typed)
})

test('dates can be typed with dots', () => {
  for (const [typed, date] of [
    ['31.12.2026', '2026-12-31'],
    ['1. 2. 2026', '2026-02-01'],
    ['31.12.2026 18:30', '2026-12-31 18:30'],
    ['31.12.2026, 18:30', '2026-12-31 18:30'],
    ['2026-12-31', '2026-12-31'],
    ['12/31/2026', '12/31/2026'],
    ['31.12.26', '31.12.26'],
  ] as const)
    assert.equal(dateOf(typed), date, typed)
})
