import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { hashToken, newSecret, newToken, parseAuthorization, parseToken, secretsEqual } from './tokens.ts'

const kinds = ['pat', 'oauth', 'session', 'publisher'] as const

test('a token has its prefix, 60 base62 characters and the SHA-256 of its whole text as hash', () => {
  for (const [kind, prefix] of [
    ['pat', 'dpp_'],
    ['oauth', 'dpo_'],
    ['session', 'dps_'],
    ['publisher', 'dpt_'],
  ] as const) {
    const { token, hash } = newToken(kind)
    assert.match(token, new RegExp(`^${prefix}[0-9A-Za-z]{60}$`))
    assert.deepEqual(hash, createHash('sha256').update(token).digest())
  }
})

test('the checksum is the CRC-32 of prefix and random part, in six base62 digits', () => {
  // 0xf39faaa8 is the CRC-32 of the text; written out so that other programs can check theirs against it.
  const token = `dpp_${'0'.repeat(54)}`
  assert.deepEqual(parseToken(`${token}4Sc0ZU`)?.kind, 'pat')
  assert.deepEqual(parseToken(`dpt_${'0'.repeat(54)}2RufRM`)?.kind, 'publisher')
})

test('recognizes generated tokens with their kind and hash', () => {
  fc.assert(
    fc.property(fc.constantFrom(...kinds), (kind) => {
      const { token, hash } = newToken(kind)
      assert.deepEqual(parseToken(token), { kind, hash })
    }),
    { numRuns: 200 },
  )
})

test('a token with any one character changed is not recognized', () => {
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.nat(63), fc.constantFrom(...'0Az_ é'), (kind, at, other) => {
      const { token } = newToken(kind)
      fc.pre(token[at] !== other)
      assert.equal(parseToken(token.slice(0, at) + other + token.slice(at + 1)), undefined)
    }),
    { numRuns: 500 },
  )
})

test('a token with its kind exchanged, cut short, made longer or wrapped in spaces is not recognized', () => {
  const { token } = newToken('pat')
  for (const text of [
    token.replace('dpp_', 'dps_'),
    token.slice(0, -1),
    `${token}0`,
    ` ${token}`,
    `${token}\n`,
    `x${token}`.slice(0, 64),
    token.toUpperCase(),
    '',
  ])
    assert.equal(parseToken(text), undefined, JSON.stringify(text))
})

test('no text at all makes the recognizer fail', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => parseToken(text) === undefined))
})

test('secrets are 54 base62 characters and never the same', () => {
  const made = Array.from({ length: 200 }, () => newSecret())
  for (const { secret, hash } of made) {
    assert.match(secret, /^[0-9A-Za-z]{54}$/)
    assert.deepEqual(hash, hashToken(secret))
  }
  assert.equal(new Set(made.map(({ secret }) => secret)).size, made.length)
})

test('an authorization header gives its token raw or after Bearer in any case', () => {
  const { token } = newToken('pat')
  for (const header of [token, `Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}`, `  ${token} `])
    assert.equal(parseAuthorization(header), token, JSON.stringify(header))
  assert.equal(parseAuthorization('host_0123-abc.DEF'), 'host_0123-abc.DEF')
})

test('an authorization header without a usable token gives none', () => {
  for (const header of [
    undefined,
    '',
    '  ',
    'Bearer',
    'Bearer ',
    'Basic dXNlcjpwYXNz',
    'Bearer a b',
    'tökèn',
    'a\u0000b',
    'x'.repeat(513),
  ])
    assert.equal(parseAuthorization(header), undefined, JSON.stringify(header))
  assert.equal(parseAuthorization('x'.repeat(512))?.length, 512)
})

test('secrets are compared by content, whatever their lengths', () => {
  assert.equal(secretsEqual('same', 'same'), true)
  assert.equal(secretsEqual('same', 'samE'), false)
  assert.equal(secretsEqual('same', 'same longer'), false)
  assert.equal(secretsEqual('', ''), true)
})
