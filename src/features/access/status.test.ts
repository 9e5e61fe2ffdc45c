// The lists of statuses in code, and the functions of the database that stand for them in triggers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type TestApp, testApp } from '#test/support/harness.ts'
import { isSearchableStatus, PROJECT_STATUSES } from './project-status.ts'
import { isListedStatus, LISTED_VERSION_STATUSES, VERSION_STATUSES } from './version-status.ts'

let t: TestApp
before(async () => {
  t = await testApp()
})
after(() => t?.close())

test('a listed version is the same to the list, to the SQL made from it, and to is_listed', async () => {
  const { rows } = await sql<{ status: string; twin: boolean; made: boolean }>`
    select status, is_listed(status) as twin, ${isListedStatus('status')} as made
    from unnest(${[...VERSION_STATUSES]}::text[]) status`.execute(t.deps.db)
  const listed: readonly string[] = LISTED_VERSION_STATUSES
  assert.deepEqual(
    rows,
    VERSION_STATUSES.map((status) => ({ status, twin: listed.includes(status), made: listed.includes(status) })),
  )
})

test('a searchable project is the same to the list and to is_searchable', async () => {
  const { rows } = await sql<{ status: string; twin: boolean }>`
    select status, is_searchable(status) as twin from unnest(${[...PROJECT_STATUSES]}::text[]) status`.execute(
    t.deps.db,
  )
  assert.deepEqual(
    rows,
    PROJECT_STATUSES.map((status) => ({ status, twin: isSearchableStatus(status) })),
  )
})
