import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import Type from 'typebox'
import Value from 'typebox/value'
import * as rules from './text-rules.ts'

const refused = (field: string) => (error: unknown) => {
  assert.equal((error as { kind: string }).kind, 'validation_error')
  assert.equal((error as { details: { field: string } }).details.field, field)
  return true
}

test('slugs, usernames and version numbers take exactly their characters and lengths', () => {
  const cases: [RegExp, string[], string[]][] = [
    [
      rules.PROJECT_SLUG,
      ['abc', 'A_b-c.9', 'x'.repeat(64), '...'],
      ['ab', 'x'.repeat(65), 'a b', 'a/b', 'abç', 'abc\n', ''],
    ],
    [rules.ORGANIZATION_SLUG, ['abc', 'A-9', 'x'.repeat(64)], ['ab', 'x'.repeat(65), 'a_b', 'a.b', 'abc\n']],
    [rules.USERNAME, ['a', 'A_b-c.9', 'x'.repeat(39), '...'], ['', '.', '..', 'x'.repeat(40), 'a b', 'a@b', 'a\n']],
    [
      rules.VERSION_NUMBER,
      ['1', '1.0.0+mc(1.20)', 'a\'b"c`d!@$,_-', 'x'.repeat(32)],
      ['', '.', '..', 'x'.repeat(33), '1 0', '1/0', '1#0', 'é'],
    ],
  ]
  for (const [pattern, good, bad] of cases) {
    for (const text of good) assert.ok(pattern.test(text), `${pattern} refuses ${text}`)
    for (const text of bad) assert.ok(!pattern.test(text), `${pattern} accepts ${JSON.stringify(text)}`)
  }
})

test('the pattern texts serve schemas as they are', () => {
  assert.ok(Value.Check(Type.String({ pattern: rules.VERSION_NUMBER_PATTERN }), '1.0"`\'-'))
  assert.ok(!Value.Check(Type.String({ pattern: rules.USERNAME_PATTERN }), '..'))
})

test('lengths count code points, as spreading the text does', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => rules.characterCount(text) === [...text].length),
    { numRuns: 300 },
  )
  assert.equal(rules.characterCount('\ud800\ud800\udc00\udc00'), 3)
})

test('limits hold at each side of each bound, counted in characters', () => {
  const problem = (text: string) => rules.textProblem(text, { min: 3, max: 5 })
  assert.match(problem('\u{1F600}\u{1F600}') ?? '', /at least 3 characters/)
  assert.equal(problem('\u{1F600}\u{1F600}\u{1F600}'), undefined)
  assert.equal(problem('\u{1F600}'.repeat(5)), undefined)
  assert.match(problem('\u{1F600}'.repeat(6)) ?? '', /at most 5 characters/)
  assert.equal(problem('abcde'), undefined)
  assert.match(problem('abcdef') ?? '', /at most 5/)
  assert.match(rules.textProblem('', { min: 1, max: 2 }) ?? '', /at least 1 character long/)
  assert.match(
    rules.textProblem('live \u202eevil', { max: 20, isName: true }) ?? '',
    /must not contain characters that reorder text/,
  )
  assert.equal(rules.textProblem('\u200fשלום', { max: 20, isName: true }), undefined)
})

test('text that shows nothing is blank', () => {
  for (const text of ['', ' ', '\t\n', '\u00a0', '\u200b', '\u2060\ufeff', '\u3164', '\u2800', '\u202e', '\u00ad'])
    assert.ok(rules.isBlank(text), JSON.stringify(text))
  for (const text of ['a', ' .', '猫', '\u{1F600}', '\u200bx']) assert.ok(!rules.isBlank(text), JSON.stringify(text))
  assert.throws(() => rules.checkText(' \u200b ', 'name', { min: 1, max: 9, visible: true }), refused('name'))
})

test('rejects NUL and unpaired surrogates anywhere in a body, with the path', () => {
  const bodies: [unknown, string][] = [
    [{ name: 'a\0' }, 'name'],
    [{ items: [{ title: 'ok' }, { title: '\ud800x' }] }, 'items.1.title'],
    [{ links: { 'a\0': 'x' } }, 'links.a\uFFFD'],
    ['\udfff', ''],
  ]
  for (const [body, place] of bodies) assert.throws(() => rules.checkStorable(body), refused(place))
  rules.checkStorable({ name: '\u{1F600}', n: 1, deep: [null, true, { x: '猫' }] })
})

test('rejects a deeply nested body before the stack overflows', () => {
  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
  rules.checkStorable(nested(64))
  assert.throws(() => rules.checkStorable(nested(66)), { kind: 'validation_error' })
  assert.throws(() => rules.checkStorable(nested(1000)), { kind: 'validation_error' })
})

test('an address is https, without credentials, and at most 2048 characters', () => {
  const good = [
    'https://a.example',
    'HTTPS://a.example/x?y#z',
    'https://猫.example/猫',
    'https://a.example:8443/@x?a@b',
  ]
  for (const text of good) assert.equal(rules.checkHttpsUrl(text, 'url'), text)
  const bad = [
    'http://a.example',
    'ftp://a.example',
    'https:a.example',
    'https:/a.example',
    'https:///a.example',
    'https://',
    'https://?x',
    'https://user@a.example',
    'https://user:pw@a.example',
    'https://@a.example',
    'https://a.example/ x',
    ' https://a.example',
    'https://a.example/\n',
    'https://a.example\\x',
    'https://a b',
    'https://a.example:99999',
    'javascript:alert(1)',
    'https://a.example/\0',
    'https://a.example/\ud800',
    '',
  ]
  for (const text of bad) assert.throws(() => rules.checkHttpsUrl(text, 'url'), refused('url'), text)
  const long = (length: number) => `https://a.example/${'x'.repeat(length - 18)}`
  rules.checkHttpsUrl(long(2048), 'url')
  assert.throws(() => rules.checkHttpsUrl(long(2049), 'url'), refused('url'))
})
