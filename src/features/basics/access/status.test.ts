// The lists of statuses in the code match the database functions that statements and triggers use.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { isSearchableStatus, PROJECT_STATUSES } from '#taxonomy/project-status.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { isPublicVersionStatus, VERSION_STATUSES } from './version-status.ts'

const t = await testApp()
after(() => t.close())

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

test('every listed version is public, and unlisted versions are not listed', async () => {
  const { rows } = await sql<{ status: string }>`
    select status from unnest(${[...VERSION_STATUSES]}::text[]) status where is_listed(status)`.execute(t.deps.db)
  assert.deepEqual(
    rows.filter(({ status }) => !isPublicVersionStatus(status) || status === 'unlisted'),
    [],
  )
})
