import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { keepKnownKeys } from './known-keys.ts'

const Inner = Type.Object({ a: Type.String() })

test('removes keys that a schema does not name, at any depth', () => {
  const schema = Type.Object({
    a: Type.String(),
    one: Type.Optional(Type.Union([Inner, Type.Null()])),
    list: Type.Optional(Type.Array(Inner)),
    byName: Type.Optional(Type.Record(Type.String(), Inner)),
  })
  const inner = { a: 'x', is_owner: true }
  const value = { a: 'x', id: 'y', one: { ...inner }, list: [{ ...inner }], byName: { n: { ...inner } } }
  assert.deepEqual(keepKnownKeys(schema, value), {
    a: 'x',
    one: { a: 'x' },
    list: [{ a: 'x' }],
    byName: { n: { a: 'x' } },
  } as typeof value)
})

test('of several alternatives the one that accepts the value says what is known', () => {
  const schema = Type.Union([
    Type.Object({ type: Type.Literal('text'), body: Type.String() }),
    Type.Object({ type: Type.Literal('status'), status: Type.String() }),
  ])
  const value = { type: 'status', status: 'closed', body: 'hidden' }
  assert.deepEqual(keepKnownKeys(schema, value), { type: 'status', status: 'closed' })
})

test('preserves additional keys of open schemas', () => {
  const open = Type.Object({ a: Type.String() }, { additionalProperties: Type.Unknown() })
  assert.deepEqual(keepKnownKeys(open, { a: 'x', own: [{ b: 1 }] }), { a: 'x', own: [{ b: 1 }] } as never)
  assert.deepEqual(keepKnownKeys(Type.Unknown(), { b: 1 }), { b: 1 })
})

test('nullable schemas are not checked twice, which would be slow for long lists', () => {
  const schema = Type.Union([Type.Array(Inner), Type.Null()])
  let reads = 0
  const item = {
    get a() {
      reads += 1
      return 'x'
    },
    id: 'y',
  }
  assert.deepEqual(Object.keys(keepKnownKeys(schema, [item])[0] ?? {}), ['a'])
  assert.equal(reads, 1)
})
