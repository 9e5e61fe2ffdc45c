// Released migrations never change: data folders that have applied them exist.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMigrations } from '#platform/db/migrate.ts'
import { releasedMigrations } from '#test/upgrades/recording.ts'

test('every released migration is unchanged, and new ones come after them', async () => {
  const released = releasedMigrations()
  assert.ok(released.size >= 21, 'the newest recording lists its migrations')
  const present = await readMigrations()
  const found = new Map(present.map(({ name, checksum }) => [name, checksum]))
  for (const [name, checksum] of released) {
    assert.equal(found.get(name), checksum, `${name} was released. Restore it, and correct it in a new migration.`)
  }
  const last = [...released.keys()].sort().at(-1) ?? ''
  const added = present.map(({ name }) => name).filter((name) => !released.has(name))
  assert.deepEqual(
    added.filter((name) => name < last),
    [],
    `a new migration needs a number after ${last}`,
  )
})
