import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '#test/support/app/database.ts'
import { createDb } from './db.ts'
import { instanceSecret } from './instance-secret.ts'

test('creates a secret once even for concurrent callers, and a separate secret per name', async (t) => {
  const database = await testDatabase()
  t.after(() => database.close())
  const db = createDb(database.pool)
  const asked = await Promise.all(Array.from({ length: 12 }, () => instanceSecret(db, 'test')))
  const [first] = asked
  assert.ok(first)
  assert.equal(first.length, 32)
  for (const each of asked) assert.ok(each.equals(first))
  assert.ok((await instanceSecret(db, 'test')).equals(first))
  assert.ok(!(await instanceSecret(db, 'other')).equals(first))
})
