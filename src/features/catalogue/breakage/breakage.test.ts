// Broken dependencies: who is notified of what, how often, and where the problem is shown.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '#lib/time.ts'
import { enqueue } from '#platform/jobs/queue.ts'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'

const t = await testApp()
after(() => t.close())

type Needed = { project_id: string } | { version_id: string }

async function library(numbers: readonly string[] = ['1.0', '2.0'], fields: object = {}) {
  const project = await t.make.project()
  const versions: string[] = []
  for (const [index, version_number] of numbers.entries()) {
    const date_published = new Date(Date.UTC(2026, 0, 1 + index))
    versions.push(
      (await t.make.version({ project, version_number, date_published, loaders: ['fabric'], ...fields })).id,
    )
  }
  return { project, versions }
}

/** A project whose only version requires something. */
async function dependent(needed: Needed, fields: object = {}, type = 'required') {
  const project = await t.make.project()
  const version = await t.make.version({ project, loaders: ['fabric'], ...fields })
  const dependencies = [{ dependency_type: type, ...needed }]
  const answer = await t.as(project.owner).patch(`/v3/version/${version.id}`, { dependencies })
  assert.equal(answer.statusCode, 204, answer.body)
  return { project, version: version.id }
}

const withdraw = async (
  { owner }: MadeProject,
  id: string,
  withdrawn: object | null = { kind: 'broken', reason: 'Bad' },
) => {
  const answer = await t.as(owner).patch(`/v3/version/${id}`, { withdrawn })
  assert.equal(answer.statusCode, 204, answer.body)
}

async function notified({ owner }: MadeProject): Promise<Record<string, unknown>[]> {
  await t.runJobs()
  const list = (await t.as(owner).get(`/v3/user/${owner.id}/notifications`)).json() as {
    body: Record<string, unknown>
  }[]
  return list.map(({ body }) => body).filter(({ type }) => type === 'dependency_broken')
}

async function attention({ owner }: MadeProject): Promise<string[]> {
  const { items } = (await t.as(owner).get(`/v3/user/${owner.id}/attention`)).json()
  return items.map(({ kind }: { kind: string }) => kind).filter((kind: string) => kind === 'withdrawn_dependency')
}

test('a withdrawal notifies the members of projects whose newest version names it, once', async () => {
  const { project, versions } = await library()
  const [, last = ''] = versions
  const app = await dependent({ version_id: last })
  assert.deepEqual(await attention(app.project), [])
  await withdraw(project, last)
  const dependency = { project_id: project.id, version_id: last }
  const body = {
    type: 'dependency_broken',
    project_id: app.project.id,
    version_id: app.version,
    dependency,
    reason: 'withdrawn',
  }
  assert.deepEqual(await notified(app.project), [body])
  assert.deepEqual(await attention(app.project), ['withdrawn_dependency'])
  await withdraw(project, last, { kind: 'security', reason: 'Another reason' })
  assert.equal((await notified(app.project)).length, 1)
  await withdraw(project, last, null)
  assert.deepEqual(await attention(app.project), [])
})

test('a dependency on a project breaks when no version fits any more', async () => {
  const { project, versions } = await library()
  const [old = '', last = ''] = versions
  const app = await dependent({ project_id: project.id })
  await withdraw(project, last)
  assert.deepEqual([await notified(app.project), await attention(app.project)], [[], []])
  await withdraw(project, old)
  assert.equal((await notified(app.project)).length, 1)
  assert.deepEqual(await attention(app.project), ['withdrawn_dependency'])
})

test('another game version, another loader, or an optional dependency is not broken', async () => {
  const { project, versions } = await library(['1.0'], { game_versions: ['1.20.1'] })
  const other = await dependent({ project_id: project.id }, { game_versions: ['1.19.4'] })
  const optional = await dependent({ project_id: project.id }, { game_versions: ['1.20.1'] }, 'optional')
  const fits = await dependent({ project_id: project.id }, { game_versions: ['1.20.1'] })
  await t.make.version({ project, loaders: ['forge'], date_published: new Date(0) })
  const onForge = await dependent({ project_id: project.id }, { loaders: ['forge'] })
  await withdraw(project, versions[0] ?? '')
  for (const { project: none } of [other, optional, onForge]) assert.deepEqual(await notified(none), [])
  assert.equal((await notified(fits.project)).length, 1)
})

test('an older version of the dependent does not count, unless its `ordering` puts it first', async () => {
  const { project, versions } = await library()
  const older = async (fields: object) => {
    const app = await dependent({ version_id: versions[1] ?? '' }, { date_published: new Date(0), ...fields })
    await t.make.version({ project: app.project, loaders: ['fabric'] })
    return app
  }
  const [app, ordered] = [await older({}), await older({ ordering: 1 })]
  await withdraw(project, versions[1] ?? '')
  assert.deepEqual([await notified(app.project), await attention(app.project)], [[], []])
  assert.deepEqual(
    (await notified(ordered.project)).map(({ version_id }) => version_id),
    [ordered.version],
  )
})

test('removed and hidden versions and projects break dependencies too', async () => {
  const one = await library(['1.0'])
  const removed = await dependent({ version_id: one.versions[0] ?? '' })
  assert.equal((await t.as(one.project.owner).delete(`/v3/version/${one.versions[0]}`)).statusCode, 204)
  assert.deepEqual(
    (await notified(removed.project)).map(({ reason }) => reason),
    ['removed'],
  )
  assert.deepEqual(await attention(removed.project), ['withdrawn_dependency'])

  const two = await library(['1.0'])
  const hidden = await dependent({ version_id: two.versions[0] ?? '' })
  assert.equal(
    (await t.as(two.project.owner).patch(`/v3/version/${two.versions[0]}`, { status: 'draft' })).statusCode,
    204,
  )
  assert.deepEqual(
    (await notified(hidden.project)).map(({ reason }) => reason),
    ['hidden'],
  )

  const three = await library()
  const gone = await dependent({ project_id: three.project.id })
  assert.equal((await t.as(three.project.owner).delete(`/v3/project/${three.project.id}`)).statusCode, 204)
  const [body] = await notified(gone.project)
  assert.deepEqual(
    [body?.['reason'], body?.['dependency']],
    ['removed', { project_id: three.project.id, version_id: null }],
  )
  assert.deepEqual(await attention(gone.project), ['withdrawn_dependency'])

  const four = await library()
  const without = await dependent({ project_id: four.project.id })
  const moderator = await t.make.account({ role: 'moderator' })
  assert.equal((await t.as(moderator).patch(`/v3/project/${four.project.id}`, { status: 'rejected' })).statusCode, 204)
  assert.deepEqual(
    (await notified(without.project)).map(({ reason }) => reason),
    ['hidden'],
  )
  assert.deepEqual(await attention(without.project), ['withdrawn_dependency'])
})

test('a project is notified at most once a day; later causes are sent the next day together', async () => {
  t.freeze()
  const libraries = [await library(), await library(), await library()]
  const app = await t.make.project()
  const version = await t.make.version({ project: app, loaders: ['fabric'] })
  const dependencies = libraries.map(({ versions }) => ({ dependency_type: 'required', version_id: versions[1] }))
  assert.equal((await t.as(app.owner).patch(`/v3/version/${version.id}`, { dependencies })).statusCode, 204)
  for (const { project, versions } of libraries) {
    await withdraw(project, versions[1] ?? '')
    assert.equal((await notified(app)).length, 1)
  }
  t.advance(23 * HOUR_MS)
  await t.deps.db.transaction().execute((tx) => enqueue(tx, 'dependencies.notify', {}))
  assert.equal((await notified(app)).length, 1)
  t.advance(HOUR_MS * 2)
  await t.deps.db.transaction().execute((tx) => enqueue(tx, 'dependencies.notify', {}))
  assert.equal((await notified(app)).length, 2)
  t.advance(3 * DAY_MS)
  await t.deps.db.transaction().execute((tx) => enqueue(tx, 'dependencies.notify', {}))
  assert.equal((await notified(app)).length, 2)
})

test('more dependents than a batch are all found, and their members notified', async () => {
  const { project, versions } = await library(['1.0'])
  const app = await dependent({ project_id: project.id })
  const { db } = t.deps
  // Copies of a dependent with the same owner, who gets one notification per project, but no emails.
  const setting = { account_id: app.project.owner.id, kind: 'withdrawal', is_emailed: false }
  await db.insertInto('email_setting').values(setting).execute()
  await sql`insert into team (id) select 'Tea' || lpad(n::text, 5, '0') from generate_series(1, 1000) n`.execute(db)
  await sql`insert into team_member select (jsonb_populate_record(model, jsonb_build_object('team_id',
      'Tea' || lpad(n::text, 5, '0')))).* from team_member model cross join generate_series(1, 1000) n
    where model.team_id = ${app.project.teamId}`.execute(db)
  await sql`insert into project select (jsonb_populate_record(model, jsonb_build_object('id', 'Dep' || lpad(n::text, 5, '0'),
      'slug', 'many-' || n, 'team_id', 'Tea' || lpad(n::text, 5, '0')))).* from project model cross join generate_series(1, 1000) n
    where model.id = ${app.project.id}`.execute(db)
  await sql`insert into version select (jsonb_populate_record(model, jsonb_build_object('id', 'Ver' || lpad(n::text, 5, '0'),
      'project_id', 'Dep' || lpad(n::text, 5, '0')))).* from version model cross join generate_series(1, 1000) n
    where model.id = ${app.version}`.execute(db)
  await sql`insert into dependency (dependent_id, project_id, dependency_type)
    select 'Ver' || lpad(n::text, 5, '0'), ${project.id}, 'required' from generate_series(1, 1000) n`.execute(db)
  await withdraw(project, versions[0] ?? '')
  assert.equal((await notified(app.project)).length, 1001)
  const rows = await db
    .selectFrom('dependency_break')
    .select('notified')
    .where('lost_project_id', '=', project.id)
    .execute()
  assert.equal(rows.filter((row) => row.notified !== null).length, 1001)
})

test('cycles and a project that requires itself end', async () => {
  const a = await library(['1.0'])
  const b = await library(['1.0'])
  const needs = async (of: typeof a, on: typeof a) => {
    const dependencies = [{ dependency_type: 'required', project_id: on.project.id }]
    assert.equal(
      (await t.as(of.project.owner).patch(`/v3/version/${of.versions[0]}`, { dependencies })).statusCode,
      204,
    )
  }
  await needs(a, b)
  await needs(b, a)
  await withdraw(a.project, a.versions[0] ?? '')
  assert.equal((await notified(b.project)).length, 1)
  assert.equal((await notified(a.project)).length, 0)
})
