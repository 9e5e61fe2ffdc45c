import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import {
  bytesToKeep,
  entityTag,
  JsonEntity,
  joinJson,
  layOutJsonObject,
  PART_BYTES,
  partsOfObject,
  withLargerNumber,
  writeObject,
} from './json-bytes.ts'

const joinJsonObject = (parts: Parameters<typeof layOutJsonObject>[0]): Buffer => {
  const object = layOutJsonObject(parts)
  const bytes = writeObject(object, Buffer.alloc(object.length))
  assert.equal(bytes.length, object.length)
  return bytes
}
const entity = (value: unknown) => new JsonEntity(bytesToKeep(JSON.stringify(value)))

test('joined entities are the JSON of the list and of the object', () => {
  const values = [{ a: 'ä €' }, { b: '\ud83d\ude00' }]
  const entities = values.map(entity)
  assert.deepEqual(JSON.parse(String(joinJson(entities))), values)
  const entries = Object.entries({ x: 0, 'a "key"': 1 }).map(([key, i]) => [key, entity(values[i])] as const)
  assert.deepEqual(JSON.parse(String(joinJsonObject(entries))), { x: values[0], 'a "key"': values[1] })
  const mixed = [['list', entities] as const, ['ä', entities.slice(0, 1)] as const, ['none', []] as const]
  assert.deepEqual(JSON.parse(String(joinJsonObject(mixed))), { list: values, ä: values.slice(0, 1), none: [] })
  assert.equal(String(joinJsonObject([])), '{}')
})

test('the parts of an object are the object, and each part except the last has at least its size', async () => {
  for (const count of [1, 2, 63, 64, 200]) {
    const object = layOutJsonObject(
      Array.from({ length: count }, (_, n) => [`ä${n}`, entity('x'.repeat(n * 50))] as const),
    )
    const parts: Buffer[] = await Readable.from(partsOfObject(object)).toArray()
    assert.deepEqual(Buffer.concat(parts), writeObject(object, Buffer.alloc(object.length)))
    for (const part of parts.slice(0, -1)) assert.ok(part.length >= PART_BYTES - 1, String(part.length))
  }
})

test('stored bytes have their own memory and an ETag of their content', () => {
  const { bytes, etag } = entity('short')
  assert.equal(bytes.buffer.byteLength, bytes.length)
  assert.equal(etag, entityTag('"short"'))
})

test('an object larger than 64 MiB is rejected before it is made', () => {
  const large = { bytes: Buffer.alloc(1024 * 1024) }
  function* endless() {
    for (let i = 0; i < 1_000_000; i += 1) yield [String(i), large] as const
  }
  assert.throws(
    () => joinJsonObject(endless()),
    (error: ApiError) => error instanceof ApiError && error.kind === 'invalid_input',
  )
})

test('a number under a key grows in the text, and nothing else moves, whatever the texts say', () => {
  const value = { name: 'x","downloads":1,"', downloads: 99, text: '"downloads":5' }
  const json = JSON.stringify(value)
  assert.deepEqual(JSON.parse(withLargerNumber(json, 'downloads', 1_234)), { ...value, downloads: 1_234 })
  assert.equal(withLargerNumber(json, 'downloads', 99), json)
  assert.equal(withLargerNumber(json, 'downloads', 98), json)
  assert.equal(withLargerNumber(json, 'followers', 5), json)
  assert.equal(withLargerNumber('{"downloads":0}', 'downloads', 7), '{"downloads":7}')
})
