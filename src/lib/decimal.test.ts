import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AMOUNT_PATTERN, formatUnits, parseUnits, shareOf, splitUnits, toAmount } from './decimal.ts'

test('amounts have two places at least, as many as they need at most, and no exponent', () => {
  const expected = {
    '0': '0.00',
    '12.3': '12.30',
    '200.00000000': '200.00',
    '0.00000001': '0.00000001',
    '-0.5': '-0.50',
    '999999999999.99999999': '999999999999.99999999',
    '1.230000000000': '1.23',
  }
  for (const [text, amount] of Object.entries(expected)) assert.equal(toAmount(text), amount)
})

test('rejects values that are not decimals, or have too many digits', () => {
  for (const text of ['', '.5', '1.', '1e3', '+1', 'NaN', '0x1', '1,5', ' 1', '0.000000001'])
    assert.throws(() => parseUnits(text), RangeError)
})

test('units survive the way there and back, and the pattern takes what is not negative', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 20n) + 1n, max: 10n ** 20n - 1n }), (units) => {
      const text = formatUnits(units)
      assert.equal(parseUnits(text), units)
      assert.equal(new RegExp(AMOUNT_PATTERN).test(text), units >= 0n)
    }),
  )
})

test('a share is rounded down', () => {
  assert.equal(formatUnits(shareOf(parseUnits('19.99'), '0.1')), '1.999')
  assert.equal(formatUnits(shareOf(parseUnits('0.00000019'), '0.1')), '0.00000001')
})

test('parts add up to the whole and differ from their exact value by less than a unit', () => {
  const weights = fc.array(fc.bigInt({ min: 0n, max: 10n ** 12n }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), weights, (total, given) => {
      const parts = splitUnits(total, given)
      const sum = given.reduce((a, b) => a + b, 0n)
      assert.equal(
        parts.reduce((a, b) => a + b, 0n),
        sum === 0n ? 0n : total,
      )
      for (const [i, part] of parts.entries()) {
        const error = part * sum - total * (given[i] ?? 0n)
        if (sum > 0n) assert.ok(error > -sum && error < sum)
        if (given[i] === 0n) assert.equal(part, 0n)
      }
    }),
  )
})

test('equal weights get equal parts, the first ones what cannot be divided', () => {
  assert.deepEqual(splitUnits(10n, [1n, 1n, 1n]), [4n, 3n, 3n])
  assert.deepEqual(splitUnits(1n, [0n, 5n, 5n]), [0n, 1n, 0n])
})
