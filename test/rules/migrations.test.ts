// Released migrations never change: data folders that have applied them exist.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readMigrations } from '#platform/db/migration-files.ts'
import { releasedMigrations, releasedSchema } from '#test/upgrades/recording.ts'

test('every released migration is unchanged, and new ones come after them', async () => {
  const released = releasedMigrations()
  assert.ok(released.size >= 21, 'the newest recording lists its migrations')
  const present = await readMigrations()
  const found = new Map(present.map(({ name, checksum }) => [name, checksum]))
  for (const [name, checksum] of released)
    assert.equal(found.get(name), checksum, `${name} was released. Restore it, and correct it in a new migration.`)
  const last = [...released.keys()].sort().at(-1) ?? ''
  const added = present.map(({ name }) => name).filter((name) => !released.has(name))
  assert.deepEqual(
    added.filter((name) => name < last),
    [],
    `a new migration needs a number after ${last}`,
  )
})

type Column = { isRequired: boolean; type: string }

/** Returns the columns as `table.column`. */
function columnsOf(schema: string): Map<string, Column> {
  const columns = new Map<string, Column>()
  for (const [, table, body = ''] of schema.matchAll(/^create table (\w+) \(\n(.*?)^\);/gms)) {
    for (const line of body.split('\n')) {
      const [, name, rest = ''] = /^ {2}(?!constraint )(\w+) (.*?),?$/.exec(line) ?? []
      if (name === undefined) continue
      const isFilled = / default | generated /.test(rest)
      const type = rest.replace(/ (default|not null|generated|collate)\b.*/, '')
      columns.set(`${table}.${name}`, { isRequired: rest.endsWith('not null') && !isFilled, type })
    }
  }
  return columns
}

/** Lists what the statements of the release before could no longer do. */
function contractions(before: Map<string, Column>, now: Map<string, Column>): string[] {
  const tables = new Set([...before.keys()].map((name) => name.split('.')[0]))
  const found: string[] = []
  for (const [name, { type, isRequired }] of before) {
    const present = now.get(name)
    if (present === undefined) found.push(`${name}: dropped or renamed`)
    else if (present.type !== type) found.push(`${name}: ${present.type} instead of ${type}`)
    else if (present.isRequired && !isRequired) found.push(`${name}: required`)
  }
  for (const [name, { isRequired }] of now) {
    const isOld = tables.has(name.split('.')[0])
    if (isOld && isRequired && !before.has(name)) found.push(`${name}: new and required`)
  }
  return found
}

test('the newest recorded release can use the present schema, so that both serve during an upgrade', async () => {
  const present = columnsOf(readFileSync(join(import.meta.dirname, '../../docs/generated/schema.sql'), 'utf8'))
  const before = columnsOf(releasedSchema())
  assert.ok(before.size > 400 && before.has('project.slug'), `only ${before.size} columns were read`)
  const sql = (await readMigrations()).map((migration) => migration.sql).join('\n')
  const declared = new Set([...sql.matchAll(/^-- contracts: (\S+) is unused since \S+/gm)].map(([, name]) => name))
  const problems = contractions(before, present).filter((problem) => !declared.has(problem.split(':')[0]))
  assert.deepEqual(problems, [], 'expand in this release, and contract in the next: migrations/README.md')
})

test('the rule finds a dropped, a renamed, a retyped and a newly required column', () => {
  const schema = (...lines: string[]): Map<string, Column> => columnsOf(`create table a (\n${lines.join('')});\n`)
  const before = schema('  id text not null,\n', '  name text,\n', '  size integer not null,\n', '  gone text,\n')
  const now = schema(
    '  id text not null,\n',
    '  name text not null,\n',
    '  size bigint not null,\n',
    '  more text not null,\n',
    '  fine text default 1 not null,\n',
    '  optional text,\n',
  )
  assert.deepEqual(contractions(before, now), [
    'a.name: required',
    'a.size: bigint instead of integer',
    'a.gone: dropped or renamed',
    'a.more: new and required',
  ])
})
