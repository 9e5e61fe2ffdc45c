import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  ALL_SCOPES,
  combineScopes,
  GRANTABLE_SCOPES,
  grantProblem,
  hasScope,
  intersectScopes,
  isScopeBits,
  isScopeSubset,
  parseScopeNames,
  RESTRICTED_SCOPES,
  SCOPES,
  scopeNames,
} from './scopes.ts'

const bits = fc.integer({ min: 0, max: ALL_SCOPES })
const twoSets = [bits, bits] as const

test('the scopes are 50, one for each bit, and their masks are the known ones', () => {
  assert.deepEqual(
    SCOPES.map(({ value }) => value),
    Array.from({ length: 50 }, (_, bit) => 2 ** bit),
  )
  assert.equal(ALL_SCOPES, 1125899906842623)
  // The mask of the existing clients, less PERFORM_ANALYTICS (bit 30).
  assert.equal(RESTRICTED_SCOPES, 551886520344 - 1073741824)
  // And with the scopes of webhooks.
  assert.equal(GRANTABLE_SCOPES, 280923090190311 + 1073741824 + 2 ** 48 + 2 ** 49)
})

test('scopes that clients send as numbers have the values that those clients know', () => {
  const known = {
    USER_READ_EMAIL: 1,
    USER_READ: 2,
    USER_AUTH_WRITE: 16,
    ANALYTICS: 512,
    PROJECT_CREATE: 1024,
    VERSION_DELETE: 131072,
    THREAD_WRITE: 8388608,
    PERFORM_ANALYTICS: 1073741824,
    COLLECTION_CREATE: 2147483648,
    ORGANIZATION_DELETE: 274877906944,
    SESSION_ACCESS: 549755813888,
  }
  for (const [name, value] of Object.entries(known))
    assert.equal(SCOPES.find((scope) => scope.name === name)?.value, value, name)
})

test('exactly the account-endangering scopes are restricted', () => {
  assert.deepEqual(scopeNames(RESTRICTED_SCOPES), [
    'USER_DELETE',
    'USER_AUTH_WRITE',
    'PAT_CREATE',
    'PAT_READ',
    'PAT_WRITE',
    'PAT_DELETE',
    'SESSION_READ',
    'SESSION_DELETE',
    'SESSION_ACCESS',
  ])
})

test('every scope explains itself', () => {
  for (const { name, explanation } of SCOPES) assert.match(explanation, /^[A-Z].{10,80}[^.]$/, name)
})

test('union, intersection and subset agree with arithmetic on big integers', () => {
  fc.assert(
    fc.property(...twoSets, (a, b) => {
      assert.equal(combineScopes(a, b), Number(BigInt(a) | BigInt(b)))
      assert.equal(intersectScopes(a, b), Number(BigInt(a) & BigInt(b)))
      assert.equal(isScopeSubset(a, b), (BigInt(a) & ~BigInt(b)) === 0n)
      assert.equal(isScopeSubset(intersectScopes(a, b), a), true)
    }),
  )
})

test('a set holds exactly the scopes it names, and names make the set again', () => {
  fc.assert(
    fc.property(bits, (set) => {
      const names = scopeNames(set)
      assert.deepEqual(parseScopeNames(names.join(' ')), { bits: set, unknown: [] })
      for (const { name } of SCOPES) assert.equal(hasScope(set, name), names.includes(name))
    }),
    { numRuns: 50 },
  )
})

test('rejects numbers with unknown bits, signs or fractions as scopes', () => {
  for (const value of [-1, 0.5, ALL_SCOPES + 1, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY])
    assert.equal(isScopeBits(value), false, String(value))
  for (const value of [0, 1, 2 ** 47, ALL_SCOPES]) assert.equal(isScopeBits(value), true, String(value))
})

test('names and never grants the scopes of sign-in and tokens; all others can be granted', () => {
  fc.assert(
    fc.property(bits, (set) => {
      const refused = scopeNames(intersectScopes(set, RESTRICTED_SCOPES)).join(', ')
      const problem = refused === '' ? undefined : `contains scopes that a robot cannot have: ${refused}`
      assert.equal(grantProblem(set, 'a robot'), problem)
    }),
  )
  assert.equal(grantProblem(GRANTABLE_SCOPES, 'a robot'), undefined)
  assert.equal(grantProblem(2 ** 50, 'a robot'), 'contains unknown bits')
})

test('names are read with spaces, plus signs or commas between, in any case, once each', () => {
  const expected = { bits: 2 + 2048, unknown: [] }
  for (const text of ['USER_READ PROJECT_READ', 'user_read+project_read', ' PROJECT_READ,,USER_READ USER_READ '])
    assert.deepEqual(parseScopeNames(text), expected, text)
  assert.deepEqual(parseScopeNames(''), { bits: 0, unknown: [] })
})

test('words that name no scope are reported, those of objects in general too', () => {
  assert.deepEqual(parseScopeNames('USER_READ nonsense __proto__ constructor nonsense'), {
    bits: 2,
    unknown: ['nonsense', '__proto__', 'constructor'],
  })
})
