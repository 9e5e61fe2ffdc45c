// The change log: it records every project whose search document changes, and no other project.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { type RawBuilder, sql } from 'kysely'
import { newId } from '#lib/ids.ts'
import type { Tx } from '#platform/db/db.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { listDocumentRows } from './document-rows.ts'

const { t } = await teamApp()
const moderator = await t.make.account({ role: 'moderator' })

/** The projects that were noted while `act` ran, each as often as there are rows for it. */
async function notedBy(act: () => Promise<unknown>): Promise<string[]> {
  await t.deps.db.deleteFrom('search_change').execute()
  await act()
  const rows = await t.deps.db.selectFrom('search_change').select('project_id').execute()
  return rows.map(({ project_id }) => project_id)
}

describe('an edit over HTTP', () => {
  const patch = (project: MadeProject, body: unknown, person: Person) => async () =>
    assert.equal((await t.as(person).patch(`/v3/project/${project.id}`, body)).statusCode, 204)

  for (const body of [
    { moderation_message: 'Please' },
    { moderation_message_body: 'Change it' },
    { monetization_status: 'demonetized' },
    { requested_status: 'archived' },
  ]) {
    test(`of ${Object.keys(body)} is not noted`, async () => {
      const project = await t.make.project()
      const changed = () => t.deps.db.selectFrom('project').selectAll().where('id', '=', project.id).execute()
      const unedited = await changed()
      assert.deepEqual(await notedBy(patch(project, body, moderator)), [])
      assert.notDeepEqual(await changed(), unedited)
    })
  }

  for (const body of [
    { name: 'Another name' },
    { summary: 'Another summary' },
    { categories: ['magic'] },
    { license_id: 'Apache-2.0' },
    { slug: 'another-slug-of-it' },
    { status: 'draft' },
    // It moves `updated`, which search shows and sorts by.
    { license_url: 'https://example.org/license' },
  ]) {
    test(`of ${Object.keys(body)} is noted once`, async () => {
      const project = await t.make.project()
      assert.deepEqual(await notedBy(patch(project, body, project.owner)), [project.id])
    })
  }

  test('of a project that is not searchable is not noted', async () => {
    const project = await t.make.project({ status: 'draft' })
    assert.deepEqual(await notedBy(patch(project, { name: 'Another name' }, project.owner)), [])
  })

  test('of a name is noted for the projects that show it among their dependencies', async () => {
    const [project, dependent] = [await t.make.project(), await t.make.project()]
    await addDependency(await t.make.version({ project: dependent }), project)
    const noted = await notedBy(patch(project, { name: 'Another name' }, project.owner))
    assert.deepEqual(noted.sort(), [project.id, dependent.id].sort())
    assert.deepEqual(await notedBy(patch(project, { moderation_message: 'Please' }, moderator)), [])
  })
})

async function addDependency(version: { id: string }, project: MadeProject, versionId?: string): Promise<number> {
  const { id } = await t.deps.db
    .insertInto('dependency')
    .values({
      dependent_id: version.id,
      project_id: project.id,
      version_id: versionId ?? null,
      dependency_type: 'required',
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

async function addGalleryImage(project: MadeProject, fields: { url: string; created: Date }): Promise<string> {
  const id = newId()
  await t.deps.db
    .insertInto('gallery_item')
    .values({ id, project_id: project.id, raw_url: fields.url, content_sha1: id, ...fields })
    .execute()
  return id
}

test('deleting a version notes its own project, and not those that depend on it', async () => {
  const [project, dependent] = [await t.make.project(), await t.make.project()]
  const version = await t.make.version({ project })
  await addDependency(await t.make.version({ project: dependent }), project, version.id)
  const remove = async () =>
    assert.equal((await t.as(project.owner).delete(`/v3/version/${version.id}`)).statusCode, 204)
  assert.deepEqual(await notedBy(remove), [project.id])
  const { rows } = await sql`select from dependency where project_id = ${project.id} and version_id is null`.execute(
    t.deps.db,
  )
  assert.equal(rows.length, 1, 'the dependency did change')
})

/** Other values by type. Columns with checks and foreign keys need specific values, by `table.column`. */
const OTHER_VALUES: Record<string, unknown> = {
  text: 'https://example.org/other',
  integer: 7,
  bigint: 7,
  boolean: true,
  'timestamp with time zone': '2050-01-01T00:00:00Z',
  'text[]': ['other'],
  'integer[]': [350],
  jsonb: '{"other":["value"]}',
}

/** Columns that only change together, as one assignment by the name of the first. */
const TOGETHER: Record<string, RawBuilder<unknown> | undefined> = {
  withdrawn_at: sql`withdrawn_at = now(), withdrawn_kind = 'broken', withdrawn_reason = 'It crashes'`,
}
const WITH_OTHERS = ['withdrawn_kind', 'withdrawn_reason', 'withdrawn_replacement']

/** A row of `table` that belongs to the document of `project`. */
type Sample = { table: string; id: string | number; project: MadeProject; values?: Record<string, unknown> }

/** For each column of the row: whether the document changes with it, and whether that is noted. */
async function tryColumns({ table, id, project, values = {} }: Sample) {
  const { rows: columns } = await sql<{ name: string; type: string }>`
    select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attname <> 'id'`.execute(t.deps.db)
  const results: { column: string; isShown: boolean; isNoted: boolean }[] = []
  const read = (tx: Tx) => listDocumentRows(tx, [project.id])
  for (const { name, type } of columns) {
    if (WITH_OTHERS.includes(name)) continue
    const value = values[name] ?? OTHER_VALUES[type]
    assert.notEqual(value, undefined, `${table}.${name} needs a value to try`)
    const trial = t.deps.db.transaction().execute(async (tx) => {
      const unchanged = await read(tx)
      assert.equal(unchanged.length, 1)
      await tx.deleteFrom('search_change').execute()
      const change = TOGETHER[name] ?? sql`${sql.ref(name)} = ${value}`
      await sql`update ${sql.table(table)} set ${change} where id = ${id}`.execute(tx)
      const noted = await tx.selectFrom('search_change').select('project_id').execute()
      results.push({
        column: `${table}.${name}`,
        isShown: !isDeepStrictEqual(await read(tx), unchanged),
        isNoted: noted.some(({ project_id }) => project_id === project.id),
      })
      throw new RollBack()
    })
    await assert.rejects(trial, RollBack)
  }
  return results
}
class RollBack extends Error {}

test('a change of a column is noted exactly when it changes the document', async () => {
  const [project, other] = [await t.make.project(), await t.make.project()]
  const organization = await teamFactories(t.deps.db).organization(await t.make.account())
  const version = await t.make.version({ project })
  const otherVersion = await t.make.version({ project: other })
  const dependency = await addDependency(version, other)
  const picture = await addGalleryImage(project, { url: 'https://example.org/1', created: new Date(0) })
  await addGalleryImage(project, { url: 'https://example.org/2', created: new Date(1) })
  const results = [
    ...(await tryColumns({
      table: 'project',
      id: project.id,
      project,
      values: {
        status: 'unlisted',
        requested_status: 'archived',
        monetization_status: 'demonetized',
        publishing: 'trusted_only',
        version_order: 'number',
        team_id: organization.teamId,
        organization_id: organization.id,
      },
    })),
    ...(await tryColumns({
      table: 'version',
      id: version.id,
      project,
      values: {
        project_id: other.id,
        author_id: other.owner.id,
        version_type: 'beta',
        status: 'archived',
        requested_status: 'listed',
      },
    })),
    ...(await tryColumns({
      table: 'dependency',
      id: dependency,
      project,
      values: {
        dependent_id: otherVersion.id,
        version_id: otherVersion.id,
        project_id: project.id,
        dependency_type: 'optional',
      },
    })),
    ...(await tryColumns({ table: 'gallery_item', id: picture, project, values: { project_id: other.id } })),
  ]
  assert.deepEqual(
    results.filter(({ isShown, isNoted }) => isShown !== isNoted),
    [],
  )
  const shown = results.filter(({ isShown }) => isShown).map(({ column }) => column)
  assert.deepEqual(
    shown.sort(),
    [
      ...['dependent_id', 'dependency_type', 'project_id'].map((name) => `dependency.${name}`),
      ...['created', 'featured', 'ordering', 'project_id', 'url'].map((name) => `gallery_item.${name}`),
      ...['additional_categories', 'approved', 'categories', 'color', 'downloads', 'followers', 'icon_url', 'license'],
      ...['name', 'organization_id', 'other_names', 'slug', 'status', 'summary', 'team_id', 'updated', 'version_order'],
      ...['date_published', 'fields', 'loaders', 'number_key', 'ordering', 'project_id', 'status', 'withdrawn_at'].map(
        (name) => `version.${name}`,
      ),
    ]
      .map((name) => (name.includes('.') ? name : `project.${name}`))
      .sort(),
  )
})
