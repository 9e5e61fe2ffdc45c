// GET /v3/project/{id}/dependencies: the listed dependencies, and who can see them.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Client, testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import type { DEPENDENCY_TYPES } from '../kinds.ts'

const t = await testApp()
after(() => t.close())
const stranger = await t.make.account()

type Target = { project?: { id: string }; version?: { id: string }; type?: string }

async function depend(dependent: { id: string }, { project, version, type = 'required' }: Target): Promise<void> {
  await t.deps.db
    .insertInto('dependency')
    .values({
      dependent_id: dependent.id,
      project_id: project?.id ?? null,
      version_id: version?.id ?? null,
      dependency_type: type as (typeof DEPENDENCY_TYPES)[number],
    })
    .execute()
}

async function dependencies(
  project: MadeProject,
  client: Client = t.anyone,
): Promise<{ projects: string[]; versions: string[] }> {
  const answer = await client.get(`/v3/project/${project.slug}/dependencies`)
  assert.equal(answer.statusCode, 200, answer.body)
  const { projects, versions } = answer.json()
  const ids = (list: { id: string }[]) => list.map(({ id }) => id)
  return { projects: ids(projects), versions: ids(versions) }
}

test('lists every kind of dependency of every version once, newest first', async () => {
  const project = await t.make.project()
  const one = await t.make.version({ project })
  const two = await t.make.version({ project, status: 'unlisted' })
  const older = await t.make.project()
  t.advance(1000)
  const newer = await t.make.project()
  const first = await t.make.version({ project: older, date_published: new Date(1) })
  const second = await t.make.version({ project: older, date_published: new Date(2) })
  await depend(one, { project: older, version: first })
  await depend(one, { project: newer, type: 'incompatible' })
  await depend(two, { project: older, version: first, type: 'optional' })
  await depend(two, { project: older, version: second, type: 'embedded' })
  await depend(two, {})
  assert.deepEqual(await dependencies(project), { projects: [newer.id, older.id], versions: [second.id, first.id] })
})

test('a project without dependencies has two empty lists; an unknown or hidden one is 404', async () => {
  assert.deepEqual(await dependencies(await t.make.project()), { projects: [], versions: [] })
  const draft = await t.make.project({ status: 'draft' })
  for (const id of [draft.id, 'zzzzzzzz', 'no-such-slug'])
    assert.equal((await t.as(stranger).get(`/v3/project/${id}/dependencies`)).statusCode, 404)
  assert.deepEqual(await dependencies(draft, t.as(draft.owner)), { projects: [], versions: [] })
})

test('viewers get what they can see, at both ends', async () => {
  const project = await t.make.project()
  const shown = await t.make.version({ project })
  const draft = await t.make.version({ project, status: 'draft' })
  const open = await t.make.project()
  const openDraft = await t.make.version({ project: open, status: 'draft' })
  const secret = await t.make.project({ status: 'private' })
  const secretVersion = await t.make.version({ project: secret })
  const secondSecret = await t.make.project()
  await depend(shown, { project: open, version: openDraft })
  await depend(shown, { project: secret, version: secretVersion })
  await depend(draft, { project: secondSecret })
  const forAll = { projects: [open.id], versions: [] }
  assert.deepEqual(await dependencies(project), forAll)
  assert.deepEqual(await dependencies(project, t.as(stranger)), forAll)
  const forOwner = await dependencies(project, t.as(project.owner))
  assert.deepEqual(forOwner.projects.sort(), [open.id, secondSecret.id].sort(), 'also what a draft of the owner names')
  const forSecret = await dependencies(project, t.as(secret.owner))
  assert.deepEqual(forSecret.versions, [secretVersion.id])
  const moderator = await t.make.account({ role: 'moderator' })
  const forModerator = await dependencies(project, t.as(moderator))
  assert.equal(forModerator.projects.length, 3)
  assert.equal(forModerator.versions.length, 2)
})

test('changelogs can be left out', async () => {
  const project = await t.make.project()
  const version = await t.make.version({ project: await t.make.project(), changelog: 'All of it.' })
  const { project_id } = await t.deps.db
    .selectFrom('version')
    .select('project_id')
    .where('id', '=', version.id)
    .executeTakeFirstOrThrow()
  await depend(await t.make.version({ project }), { project: { id: project_id }, version })
  const path = `/v3/project/${project.id}/dependencies`
  assert.equal((await t.anyone.get(path)).json().versions[0].changelog, 'All of it.')
  const brief = await t.anyone.get(path, { query: { include_changelog: false } })
  assert.equal('changelog' in brief.json().versions[0], false)
})

test('a deleted version leaves its project, a deleted project leaves nothing', async () => {
  const project = await t.make.project()
  const other = await t.make.project()
  const version = await t.make.version({ project: other })
  await depend(await t.make.version({ project }), { project: other, version })
  assert.equal((await t.as(other.owner).delete(`/v3/version/${version.id}`)).statusCode, 204)
  assert.deepEqual(await dependencies(project), { projects: [other.id], versions: [] })
  assert.equal((await t.as(other.owner).delete(`/v3/project/${other.id}`)).statusCode, 204)
  assert.deepEqual(await dependencies(project), { projects: [], versions: [] })
})

test('costs the same for two dependencies as for fifty: four queries when cold and two when warm', async () => {
  for (const count of [2, 50]) {
    const project = await t.make.project()
    for (let i = 0; i < count; i += 1) {
      const other = await t.make.project()
      const version = await t.make.version({ project: other })
      await depend(await t.make.version({ project }), { project: other, version })
    }
    await t.anyone.get(`/v3/project/${project.slug}`)
    const cold = await t.queriesOf(() => dependencies(project))
    assert.equal(cold.result.versions.length, count)
    assert.equal(cold.queries.length, 4)
    assert.equal((await t.queriesOf(() => dependencies(project))).queries.length, 2)
  }
})
