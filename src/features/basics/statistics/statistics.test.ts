// The counts of the catalogue are exact after every kind of change, without counting rows.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'
import type { Statistics } from './queries.ts'

const { t } = await teamApp()
const moderator = await t.make.account({ role: 'moderator' })

async function statistics(): Promise<Statistics> {
  const answer = await t.anyone.get('/v3/statistics')
  assert.equal(answer.statusCode, 200, answer.body)
  assert.deepEqual(
    answer.json(),
    (await sql`select * from catalogue_recount()`.execute(t.deps.db)).rows[0],
    'the kept counts are the true ones',
  )
  return answer.json()
}

/** Returns the changes of the counters that `act` causes, without unchanged counters. */
async function changesOf(act: () => Promise<unknown>): Promise<Partial<Statistics>> {
  const before = await statistics()
  const done = await act()
  if (typeof done === 'object' && done !== null && 'statusCode' in done)
    assert.ok([200, 201, 204].includes(Number(done.statusCode)), String((done as { body?: string }).body))
  const now = await statistics()
  const differences = Object.entries(now).map(([key, value]) => [key, value - before[key as keyof Statistics]] as const)
  return Object.fromEntries(differences.filter(([, difference]) => difference !== 0))
}

const patch = (project: { id: string }, body: object) => t.as(moderator).patch(`/v3/project/${project.id}`, body)

async function published(project: MadeProject, fields: { status?: string } = {}) {
  const version = await t.make.version({ project, ...fields })
  const file = await t.make.file({ version, project, bytes: randomBytes(16) })
  return { ...version, sha1: file.sha1 }
}

test('is public, the same for everyone, and can be revalidated', async () => {
  const answer = await t.as(moderator).get('/v3/statistics')
  assert.match(String(answer.headers['cache-control']), /^public/)
  const again = await t.anyone.get('/v3/statistics', { headers: { 'if-none-match': String(answer.headers['etag']) } })
  assert.equal(again.statusCode, 304)
})

test('a project counts once it is approved, with its listed versions, their files and its team', async () => {
  const project = await t.make.project({ status: 'processing' })
  await published(project)
  await published(project, { status: 'archived' })
  await published(project, { status: 'unlisted' })
  await published(project, { status: 'draft' })
  const all = { projects: 1, versions: 2, files: 2, authors: 1 }
  const none = { projects: -1, versions: -2, files: -2, authors: -1 }
  assert.deepEqual(await changesOf(() => patch(project, { status: 'approved' })), all)
  assert.deepEqual(await changesOf(() => patch(project, { status: 'archived' })), {})
  assert.deepEqual(await changesOf(() => patch(project, { status: 'unlisted' })), none)
  assert.deepEqual(await changesOf(() => patch(project, { status: 'approved' })), all)
  assert.deepEqual(await changesOf(() => t.as(project.owner).delete(`/v3/project/${project.id}`)), none)
})

test('versions count while they are listed, with the files they have then', async () => {
  const project = await t.make.project()
  const owner = t.as(project.owner)
  const bytes = modJar('counted')
  const made = await form(versionData({ project_id: project.id, file_parts: ['file'] }), [{ name: 'file', bytes }])
  assert.deepEqual(await changesOf(() => owner.post('/v3/version', made.payload, { headers: made.headers })), {
    versions: 1,
    files: 1,
  })
  const { id } = (await owner.get(`/v3/project/${project.id}/version`)).json()[0]
  const more = await form({}, [{ name: 'more', bytes: modJar('more') }])
  const path = `/v3/version/${id}`
  assert.deepEqual(await changesOf(() => owner.post(`${path}/file`, more.payload, { headers: more.headers })), {
    files: 1,
  })
  assert.deepEqual(await changesOf(() => owner.patch(path, { status: 'draft' })), { versions: -1, files: -2 })
  assert.deepEqual(await changesOf(() => owner.patch(path, { status: 'listed' })), { versions: 1, files: 2 })
  assert.deepEqual(await changesOf(() => owner.patch(path, { status: 'archived' })), {})
  const hash = (await owner.get(path)).json().files[0].hashes.sha1
  assert.deepEqual(await changesOf(() => owner.delete(`/v3/version_file/${hash}`)), { files: -1 })
  assert.deepEqual(await changesOf(() => owner.delete(path)), { versions: -1, files: -1 })
})

test('nothing of a project in review counts', async () => {
  const author = await t.make.account()
  const data = projectData('uncounted', { is_draft: false, initial_versions: [versionData()] })
  const made = await form(data, [{ name: 'file', bytes: modJar('uncounted') }])
  assert.deepEqual(await changesOf(() => t.as(author).post('/v3/project', made.payload, { headers: made.headers })), {})
})

test('an author counts once, by accepted rows of teams and organizations that stand for shown projects', async () => {
  const team = teamFactories(t.deps.db)
  const first = await t.make.project()
  const second = await t.make.project({ status: 'draft' })
  const person = await t.make.account()
  const join = (project: MadeProject) => t.as(person).post(`/v3/team/${project.teamId}/join`)
  const leave = (project: MadeProject) => t.as(project.owner).delete(`/v3/team/${project.teamId}/members/${person.id}`)
  for (const project of [first, second]) {
    const invited = () => t.as(project.owner).post(`/v3/team/${project.teamId}/members`, { user_id: person.id })
    assert.deepEqual(await changesOf(invited), {}, 'an invitation is not a membership')
  }
  assert.deepEqual(await changesOf(() => join(first)), { authors: 1 })
  assert.deepEqual(await changesOf(() => join(second)), {})
  assert.deepEqual(
    await changesOf(() => patch(second, { status: 'approved' })),
    { projects: 1, authors: 1 },
    'its owner is new',
  )
  assert.deepEqual(await changesOf(() => leave(first)), {})
  assert.deepEqual(await changesOf(() => leave(second)), { authors: -1 })

  const chief = await t.make.account()
  const organization = await team.organization(chief)
  await team.member(organization.teamId, person)
  const move = () =>
    t.deps.db.updateTable('project').set({ organization_id: organization.id }).where('id', '=', first.id).execute()
  assert.deepEqual(await changesOf(move), { authors: 2 })
  assert.deepEqual(await changesOf(() => patch(first, { status: 'private' })), { projects: -1, authors: -3 })
})

test('counts all concurrent changes', async () => {
  const projects = await Promise.all(Array.from({ length: 6 }, () => t.make.project({ status: 'processing' })))
  const versions = await Promise.all(projects.map((project) => published(project, { status: 'draft' })))
  const change = await changesOf(() =>
    Promise.all([
      ...projects.map((project) => patch(project, { status: 'approved' })),
      ...projects.map((project, i) =>
        t.as(project.owner).patch(`/v3/version/${versions[i]?.id}`, { status: 'listed' }),
      ),
    ]),
  )
  assert.deepEqual(change, { projects: 6, versions: 6, files: 6, authors: 6 })
})

test('adding the changes up changes no count and leaves one row', async () => {
  const fold = () =>
    t.deps.db
      .transaction()
      .execute(async (tx) => (await import('#platform/jobs/queue.ts')).enqueue(tx, 'statistics.fold', {}))
  await fold()
  assert.deepEqual(await changesOf(() => t.runJobs()), {})
  const rows = await t.deps.db.selectFrom('catalogue_change').select('id').execute()
  assert.equal(rows.length, 1)
})

test('a file that is being stored holds its own project and no other', async () => {
  const [own, other] = await Promise.all([t.make.project(), t.make.project()])
  await t.make.version({ project: other })
  const version = await t.make.version({ project: own })
  await t.deps.db.transaction().execute(async (tx) => {
    // The plan for a small table: read all of it.
    await sql`discard plans`.execute(tx)
    for (const way of ['indexscan', 'indexonlyscan', 'bitmapscan'])
      await sql`set local ${sql.raw(`enable_${way}`)} = off`.execute(tx)
    const sha512 = randomBytes(64).toString('hex')
    await tx.insertInto('file_content').values({ sha512, project_id: own.id }).execute()
    await tx
      .insertInto('file')
      .values({
        id: randomBytes(4).toString('hex'),
        version_id: version.id,
        filename: 'lantern.jar',
        size_bytes: 1,
        sha1: sha512.slice(0, 40),
        sha512,
        content_type: 'application/java-archive',
        storage_key: sha512.slice(0, 32),
      })
      .execute()
    const free = await t.deps.db
      .selectFrom('project')
      .select('id')
      .where('id', 'in', [own.id, other.id])
      .forNoKeyUpdate()
      .skipLocked()
      .execute()
    assert.deepEqual(free, [{ id: other.id }])
  })
})
