// Impact reports: which projects and packs a withdrawal or a deletion would break.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

let t: TestApp
let project: MadeProject
let old: string
let last: string
before(async () => {
  t = await testApp()
  project = await t.make.project()
  old = (await t.make.version({ project, loaders: ['fabric'], game_versions: ['1.19.4'], date_published: new Date(0) }))
    .id
  last = (await t.make.version({ project, loaders: ['fabric'], game_versions: ['1.20.1'] })).id
})
after(() => t.close())

async function dependent(dependency: object, fields: object = {}) {
  const made = await t.make.project()
  const version = await t.make.version({ project: made, loaders: ['fabric'], game_versions: ['1.20.1'], ...fields })
  const dependencies = [{ dependency_type: 'required', ...dependency }]
  const answer = await t.as(made.owner).patch(`/v3/version/${version.id}`, { dependencies })
  assert.equal(answer.statusCode, 204, answer.body)
  return { project: made, version: version.id }
}

const ask = (by: Person, body: object, id = project.id) => t.as(by).post(`/v3/project/${id}/impact`, body)

test('counts the saved packs that contain a version that would be deleted', async () => {
  const lamp = await t.make.project()
  const setup = { loaders: ['minecraft'], game_versions: ['1.20.1'] }
  const version = await t.make.version({ project: lamp, ...setup })
  await t.make.file({ project: lamp, version, bytes: Buffer.from(lamp.id) })
  const saved = {
    name: 'Lanterns',
    projects: [lamp.id],
    loader: 'fabric',
    game_version: '1.20.1',
    loader_version: '0.15.11',
  }
  const made = await t.as(await t.make.account()).post('/v3/pack', saved)
  assert.equal(made.statusCode, 201, made.body)
  const count = async (body: object) => (await ask(lamp.owner, body, lamp.id)).json().saved_packs
  assert.equal(await count({ remove: version.id }), 1)
  assert.equal(await count({ remove: lamp.id }), 1)
  assert.equal(await count({ withdraw: version.id }), 0)
})

test('lists dependents and packs that would have no version left', async () => {
  const named = await dependent({ version_id: last })
  const fits = await dependent({ project_id: project.id })
  const older = await dependent({ project_id: project.id }, { game_versions: ['1.19.4'] })
  await dependent({ project_id: project.id, dependency_type: 'optional' })
  const pack = await dependent({ version_id: last, dependency_type: 'embedded' }, { loaders: ['mrpack'] })
  const row = (of: typeof named, names_version: boolean) => ({
    project_id: of.project.id,
    version_id: of.version,
    names_version,
  })
  const sorted = (rows: { project_id: string }[]) => rows.toSorted((a, b) => (a.project_id < b.project_id ? -1 : 1))
  const report = async (body: object) => {
    const answer = await ask(project.owner, body)
    assert.equal(answer.statusCode, 200, answer.body)
    const { dependents, packs, complete } = answer.json()
    assert.equal(complete, true)
    return { dependents: sorted(dependents), packs }
  }
  const both = { dependents: sorted([row(named, true), row(fits, false)]), packs: [row(pack, true)] }
  assert.deepEqual(await report({ withdraw: last }), both)
  assert.deepEqual(await report({ remove: last }), both)
  assert.deepEqual(await report({ withdraw: old }), { dependents: [row(older, false)], packs: [] })
  assert.deepEqual(await report({ replace: last }), { dependents: [row(older, false)], packs: [] })
  const all = await report({ remove: project.id })
  assert.equal(all.dependents.length, 3)
  assert.deepEqual(all.packs, [row(pack, true)])
})

test('counts the version of a dependent that `ordering` puts first', async () => {
  const library = await t.make.project()
  const version = await t.make.version({ project: library, loaders: ['fabric'], game_versions: ['1.20.1'] })
  const needs = async (fields: object) => {
    const made = await dependent({ version_id: version.id }, { date_published: new Date(0), ...fields })
    await t.make.version({ project: made.project, loaders: ['fabric'], game_versions: ['1.20.1'] })
    return made
  }
  await needs({})
  const first = await needs({ ordering: 1 })
  const { dependents } = (await ask(library.owner, { withdraw: version.id }, library.id)).json()
  assert.deepEqual(
    dependents.map(({ version_id }: { version_id: string }) => version_id),
    [first.version],
  )
})

test('is for members and moderators', async () => {
  const [stranger, moderator] = [await t.make.account(), await t.make.account({ role: 'moderator' })]
  assertError(await ask(stranger, { withdraw: last }), 403, 'unauthorized')
  assertError(await t.anyone.post(`/v3/project/${project.id}/impact`, { withdraw: last }), 401, 'unauthorized')
  assert.equal((await ask(moderator, { withdraw: last })).statusCode, 200)
  const hidden = await t.make.project({ status: 'draft' })
  assertError(await ask(stranger, { withdraw: last }, hidden.id), 404, 'not_found')
})

test('rejects a bad request and names the field', async () => {
  const other = await t.make.version({ project: await t.make.project() })
  const bad: [object, string][] = [
    [{}, 'body'],
    [{ withdraw: last, remove: last }, 'body'],
    [{ withdraw: '!' }, 'withdraw'],
    [{ remove: other.id }, 'remove'],
    [{ withdraw: project.id }, 'withdraw'],
    [{ replace: 'zzzzzzzz' }, 'replace'],
    [{ replace: 7 }, 'replace'],
  ]
  for (const [body, field] of bad) {
    const answer = await ask(project.owner, body)
    assert.deepEqual([answer.statusCode, answer.json().details.field], [400, field], JSON.stringify(body))
  }
})

test('a job computes the report of a project with more than 200 dependents', async () => {
  const library = await t.make.project()
  const version = await t.make.version({ project: library, loaders: ['fabric'] })
  const app = await dependent({ project_id: library.id })
  const { db } = t.deps
  await sql`insert into team (id) select 'Tea' || lpad(n::text, 5, '0') from generate_series(1, 200) n`.execute(db)
  await sql`insert into project select (jsonb_populate_record(model, jsonb_build_object('id', 'Dep' || lpad(n::text, 5, '0'),
      'slug', 'many-' || n, 'team_id', 'Tea' || lpad(n::text, 5, '0')))).* from project model
    cross join generate_series(1, 200) n where model.id = ${app.project.id}`.execute(db)
  await sql`insert into version select (jsonb_populate_record(model, jsonb_build_object('id', 'Ver' || lpad(n::text, 5, '0'),
      'project_id', 'Dep' || lpad(n::text, 5, '0')))).* from version model cross join generate_series(1, 200) n
    where model.id = ${app.version}`.execute(db)
  await sql`insert into dependency (dependent_id, project_id, dependency_type)
    select 'Ver' || lpad(n::text, 5, '0'), ${library.id}, 'required' from generate_series(1, 199) n`.execute(db)
  const atOnce = await ask(library.owner, { withdraw: version.id }, library.id)
  assert.deepEqual([atOnce.statusCode, atOnce.json().dependents?.length], [200, 200])
  await sql`insert into dependency (dependent_id, project_id, dependency_type)
    values ('Ver00200', ${library.id}, 'required')`.execute(db)
  const answer = await ask(library.owner, { withdraw: version.id }, library.id)
  assert.equal(answer.statusCode, 202, answer.body)
  const path = `/v3/project/${library.id}/impact/${answer.json().job}`
  assert.deepEqual((await t.as(library.owner).get(path)).json(), { state: 'running', result: null })
  await t.runJobs()
  const { state, result } = (await t.as(library.owner).get(path)).json()
  assert.deepEqual([state, result.dependents.length, result.complete], ['done', 201, true])
  assertError(await t.as(await t.make.account()).get(path), 403, 'unauthorized')
  assertError(await t.as(project.owner).get(`/v3/project/${project.id}/impact/${answer.json().job}`), 404, 'not_found')
  assertError(await t.as(library.owner).get(`/v3/project/${library.id}/impact/zzzzzzzz`), 404, 'not_found')
})
