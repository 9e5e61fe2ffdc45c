// Lookups among a project's versions run once and are invalidated by the first change of these versions.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'

const t = await testApp()
after(() => t.close())

type Made = { owner: Person; project: MadeProject; older: string; newer: string; sha1: string }

/** Two versions, each with a file; the hash is of the older one's. */
async function published(): Promise<Made> {
  const owner = await t.make.account()
  const project = await t.make.project({ owner })
  const older = await t.make.version({ project, date_published: new Date('2026-01-01T00:00:00Z') })
  const newer = await t.make.version({ project, date_published: new Date('2026-01-02T00:00:00Z') })
  const { sha1 } = await t.make.file({ version: older, project, bytes: randomBytes(16) })
  await t.make.file({ version: newer, project, bytes: randomBytes(16) })
  return { owner, project, older: older.id, newer: newer.id, sha1 }
}

async function listed({ project }: Made, api = 'v3'): Promise<string[]> {
  const answer = await t.anyone.get(`/${api}/project/${project.id}/version`)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().map(({ id }: { id: string }) => id)
}

async function update({ sha1 }: Made): Promise<string | undefined> {
  const answer = await t.anyone.post('/v3/version_files/update', { hashes: [sha1], loaders: ['fabric'] })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()[sha1]?.id
}

async function holder({ sha1 }: Made): Promise<string | undefined> {
  return (await t.anyone.post('/v3/version_files', { hashes: [sha1] })).json()[sha1]?.id
}

test('lists, update checks and versions by hash cost nothing when they are warm', async () => {
  const made = await published()
  const asked: (() => Promise<unknown>)[] = [
    () => listed(made),
    () => listed(made, 'v2'),
    () => update(made),
    () => holder(made),
  ]
  for (const ask of asked) await ask()
  for (const ask of asked) assert.deepEqual((await t.queriesOf(ask)).queries, [])
})

test('a change of a version appears immediately in its lists and in update checks', async () => {
  const made = await published()
  const { owner, older, newer } = made
  const state = async () => [await listed(made), await listed(made, 'v2'), await update(made), await holder(made)]
  const both = [newer, older]
  const steps: [change: () => Promise<{ statusCode: number }>, after: unknown[]][] = [
    [() => t.as(owner).patch(`/v3/version/${older}`, { ordering: 1 }), [[older, newer], [older, newer], older, older]],
    [() => t.as(owner).patch(`/v3/version/${older}`, { ordering: null }), [both, both, newer, older]],
    [() => t.as(owner).patch(`/v3/version/${newer}`, { status: 'unlisted' }), [[older], [older], older, older]],
    [() => t.as(owner).patch(`/v3/version/${newer}`, { status: 'listed' }), [both, both, newer, older]],
    [() => t.as(owner).patch(`/v3/version/${newer}`, { loaders: ['quilt'] }), [both, both, older, older]],
    [() => t.as(owner).patch(`/v3/version/${older}`, { status: 'draft' }), [[newer], [newer], undefined, undefined]],
    [() => t.as(owner).patch(`/v3/version/${older}`, { status: 'listed' }), [both, both, older, older]],
    [() => t.as(owner).delete(`/v3/version/${older}`), [[newer], [newer], undefined, undefined]],
  ]
  assert.deepEqual(await state(), [both, both, newer, older])
  for (const [change, expected] of steps) {
    const { statusCode } = await change()
    assert.equal(statusCode, 204)
    assert.deepEqual(await state(), expected)
  }
})

test('a hidden project hides its files and lists, except from its members', async () => {
  const made = await published()
  await update(made)
  await listed(made)
  const moderator = await t.make.account({ role: 'moderator' })
  const hidden = await t.as(moderator).patch(`/v3/project/${made.project.id}`, { status: 'withheld' })
  assert.equal(hidden.statusCode, 204, hidden.body)
  const seen = async () => (await t.anyone.get(`/v3/project/${made.project.id}/version`)).statusCode
  const asMember = await t.as(made.owner).post('/v3/version_files', { hashes: [made.sha1] })
  assert.deepEqual(
    [await seen(), await update(made), await holder(made), asMember.json()[made.sha1]?.id],
    [200, made.newer, made.older, made.older],
    'withheld projects are reached by their address',
  )
  assert.equal((await t.as(moderator).patch(`/v3/project/${made.project.id}`, { status: 'rejected' })).statusCode, 204)
  const forMember = await t.as(made.owner).post('/v3/version_files', { hashes: [made.sha1] })
  assert.deepEqual(
    [await seen(), await update(made), await holder(made), forMember.json()[made.sha1]?.id],
    [404, undefined, undefined, made.older],
  )
})

test('readers that run concurrently with a writer never see a list older than a completed write', async () => {
  const made = await published()
  let featured = false
  for (let round = 0; round < 10; round += 1) {
    featured = !featured
    const reads = Array.from({ length: 5 }, () => listed(made))
    const write = t.as(made.owner).patch(`/v3/version/${made.older}`, { ordering: featured ? 1 : null })
    await Promise.all([...reads, write])
    assert.equal((await listed(made))[0], featured ? made.older : made.newer)
    assert.equal(await update(made), featured ? made.older : made.newer)
  }
})
