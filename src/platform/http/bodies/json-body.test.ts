import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from './json-body.ts'

const parse = (text: string, options = {}) => parseJson(Buffer.from(text), options)

test('removes a prototype key in any spelling, unless strict objects reject it by name', () => {
  for (const key of ['__proto__', '\\u005f_proto__', '__pr\\u006Fto__', '__\\u0070ro\\u0074o__']) {
    const text = `{"a":1,"${key}":{"b":2}}`
    assert.deepEqual(Object.keys(parse(text) as object), ['a'], key)
    assert.deepEqual(Object.keys(parse(text, { keepProtoKeys: true }) as object), ['a', '__proto__'], key)
  }
})

test('removes the byte order mark at the start of the body and of every text in it', () => {
  const value = { a: '\uFEFFtext', b: ['\uFEFF', { c: 'x\uFEFFy' }], d: 1, e: null }
  const expected = { a: 'text', b: ['', { c: 'x\uFEFFy' }], d: 1, e: null }
  const json = JSON.stringify(value)
  assert.deepEqual(parse(`\uFEFF${json}`), expected)
  assert.deepEqual(parse(json.replaceAll('\uFEFF', '\\uFEff')), expected)
  assert.equal(parse('"\uFEFFtext"'), 'text')
  assert.deepEqual(parse('{"__proto__":"\uFEFFa","b":"\uFEFFc"}', { keepProtoKeys: false }), { b: 'c' })
})

test('deep nesting, too many values and too many prototype keys are rejected before they are parsed', () => {
  const deep = `${'['.repeat(200_000)}"\\u0000"${']'.repeat(200_000)}`
  assert.throws(() => parse(deep), { kind: 'validation_error' })
  assert.throws(() => parse(`{"__proto__":${deep}}`), { kind: 'validation_error' })
  assert.throws(() => parse('[1,2,3]', { maxValues: 3 }), { kind: 'validation_error' })
  assert.deepEqual(parse('[1,"a,[{\\",b",3]', { maxValues: 4 }), [1, 'a,[{",b', 3])
  const prototypes = (n: number) => `[${Array.from({ length: n }, () => '{"__proto__":1,"a":2}').join()}]`
  assert.deepEqual(parse(prototypes(2)), [{ a: 2 }, { a: 2 }])
  assert.throws(() => parse(prototypes(101)), { kind: 'validation_error' })
})
