// Reading projects: visibility by status, lists in order, one query with a cold cache and none with a warm cache.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { listMemberships } from '#features/basics/access/memberships.ts'
import {
  canSeeProject,
  isListedFor,
  listedFor,
  type Membership,
  visibleTo,
} from '#features/basics/access/project-policy.ts'
import { PROJECT_STATUSES } from '#taxonomy/project-status.ts'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'

const t = await testApp()
after(() => t.close())
const moderator = await t.make.account({ role: 'moderator' })
const stranger = await t.make.account()

const PUBLIC = ['approved', 'archived', 'unlisted', 'withheld']

describe('by status', () => {
  for (const status of PROJECT_STATUSES) {
    test(`${status}: ${PUBLIC.includes(status) ? 'anyone with the address' : 'members and moderators only'}`, async () => {
      const project = await t.make.project({ status })
      const invited = await t.make.account()
      await t.make.member({ teamId: project.teamId, accountId: invited.id, accepted: false, permissions: 0 })
      const expected = PUBLIC.includes(status) ? 200 : 404
      for (const path of [
        `/v3/project/${project.id}`,
        `/v3/project/${project.slug.toUpperCase()}`,
        `/v3/project/${project.id}/check`,
        `/v3/project/${project.id}/version`,
      ]) {
        assert.equal((await t.anyone.get(path)).statusCode, expected, `anonymous ${path}`)
        assert.equal((await t.as(stranger).get(path)).statusCode, expected, `stranger ${path}`)
        for (const person of [project.owner, moderator, invited])
          assert.equal((await t.as(person).get(path)).statusCode, 200, `${person.username} ${path}`)
      }
      const weak = await t.make.pat(project.owner, 2)
      assert.equal(
        (await t.as(weak).get(`/v3/project/${project.id}`)).statusCode,
        expected,
        'a token without PROJECT_READ is anonymous',
      )
      const list = { query: { ids: JSON.stringify([project.id, project.slug]) } }
      assert.equal((await t.anyone.get('/v3/projects', list)).json().length, expected === 200 ? 1 : 0)
      assert.equal((await t.as(project.owner).get('/v3/projects', list)).json().length, 1)
    })
  }

  test('a member of the owning organization sees what is hidden', async () => {
    const person = await t.make.account()
    const teamId = 'orgTeam1'
    await t.deps.db.insertInto('team').values({ id: teamId }).execute()
    await t.deps.db
      .insertInto('organization')
      .values({ id: 'orgOne11', slug: 'org-one', name: 'Org', description: 'Org', team_id: teamId })
      .execute()
    await t.make.member({ teamId, accountId: person.id, organizationPermissions: 0, permissions: 0 })
    const project = await t.make.project({ status: 'draft', organization_id: 'orgOne11' })
    assert.equal((await t.as(person).get(`/v3/project/${project.id}`)).statusCode, 200)
    assert.equal((await t.as(stranger).get(`/v3/project/${project.id}`)).statusCode, 404)
    assert.equal((await t.as(person).get(`/v3/project/${project.id}`)).json().organization_id, 'orgOne11')
  })
})

test('the policy and its SQL twin agree on every status and every kind of membership', async () => {
  const viewerPerson = await t.make.account()
  const made: MadeProject[] = []
  for (const status of PROJECT_STATUSES) {
    for (const row of ['none', 'pending', 'accepted'] as const) {
      const project = await t.make.project({ status })
      if (row !== 'none') {
        await t.make.member({
          teamId: project.teamId,
          accountId: viewerPerson.id,
          accepted: row === 'accepted',
          permissions: 0,
        })
      }
      made.push(project)
    }
    for (const [row, organization] of [
      ['pending', 'orgPend1'],
      ['accepted', 'orgAcce1'],
    ] as const) {
      if (status === PROJECT_STATUSES[0]) {
        const teamId = `${organization.slice(3)}Tm`
        await t.deps.db.insertInto('team').values({ id: teamId }).execute()
        const texts = { slug: organization.toLowerCase(), name: 'Org', description: 'Org' }
        await t.deps.db
          .insertInto('organization')
          .values({ id: organization, team_id: teamId, ...texts })
          .execute()
        await t.make.member({ teamId, accountId: viewerPerson.id, accepted: row === 'accepted', permissions: 0 })
      }
      made.push(await t.make.project({ status, organization_id: organization }))
    }
  }
  const ids = made.map(({ id }) => id)
  const rows = await t.deps.db
    .selectFrom('project')
    .select(['id', 'status', 'team_id', 'organization_id'])
    .where('id', 'in', ids)
    .execute()
  const base = {
    emailVerified: true,
    scopes: 0,
    caller: '127.0.0.1',
    address: '127.0.0.1',
    token: { kind: 'session', id: 'x' },
  } as const
  const viewers = [
    null,
    { ...base, id: viewerPerson.id, role: 'developer' },
    { ...base, id: moderator.id, role: 'moderator' },
  ] as const
  for (const viewer of viewers) {
    const memberships = viewer === null ? new Map<string, Membership>() : await listMemberships(t.deps.db, viewer, ids)
    const select = (where: ReturnType<typeof visibleTo>) =>
      t.deps.db.selectFrom('project').select('id').where('id', 'in', ids).where(where).execute()
    const visible = new Set((await select(visibleTo(viewer))).map(({ id }) => id))
    const listed = new Set((await select(listedFor(viewer))).map(({ id }) => id))
    for (const row of rows) {
      const membership = memberships.get(row.id) ?? {}
      assert.equal(
        visible.has(row.id),
        canSeeProject(viewer, row, membership),
        `visible ${viewer?.role} ${row.status} ${JSON.stringify(membership)}`,
      )
      assert.equal(
        listed.has(row.id),
        isListedFor(viewer, row, membership),
        `listed ${viewer?.role} ${row.status} ${JSON.stringify(membership)}`,
      )
    }
  }
})

test('lists keep the order asked for, collapse doubles and drop what is unknown', async () => {
  const [a, b, c] = [await t.make.project(), await t.make.project(), await t.make.project()]
  const answer = await t.anyone.get('/v3/projects', {
    query: { ids: JSON.stringify([c.slug, 'unknown', a.id, c.id, b.slug.toUpperCase(), a.slug]) },
  })
  assert.deepEqual(
    answer.json().map(({ id }: { id: string }) => id),
    [c.id, a.id, b.id],
  )
})

test('an ID wins over a slug of the same text', async () => {
  const first = await t.make.project()
  const second = await t.make.project()
  await t.deps.db.updateTable('project').set({ slug: first.id.toLowerCase() }).where('id', '=', second.id).execute()
  assert.equal((await t.anyone.get(`/v3/project/${first.id}`)).json().id, first.id)
})

describe('queries', () => {
  test('a cold read costs one, by ID and by slug, and a warm one none', async () => {
    for (const key of ['id', 'slug'] as const) {
      const project = await t.make.project()
      await t.make.version({ project })
      const cold = await t.queriesOf(() => t.anyone.get(`/v3/project/${project[key]}`))
      assert.equal(cold.result.statusCode, 200)
      assert.equal(cold.queries.length, 1)
      for (const again of [project.id, project.slug])
        assert.equal((await t.queriesOf(() => t.anyone.get(`/v3/project/${again}`))).queries.length, 0)
    }
  })

  test('a list costs one when cold, for one project as for fifty', async () => {
    for (const size of [1, 50]) {
      const made = await Promise.all(Array.from({ length: size }, () => t.make.project()))
      const ids = JSON.stringify(made.map(({ id }) => id))
      const cold = await t.queriesOf(() => t.anyone.get('/v3/projects', { query: { ids } }))
      assert.equal(cold.result.json().length, size)
      assert.equal(cold.queries.length, 1)
      assert.equal((await t.queriesOf(() => t.anyone.get('/v3/projects', { query: { ids } }))).queries.length, 0)
    }
  })

  test('a list of hidden projects costs a member two', async () => {
    const owner = await t.make.account()
    await t.as(owner).get('/v3/user')
    const made = await Promise.all(Array.from({ length: 30 }, () => t.make.project({ owner, status: 'draft' })))
    const ids = JSON.stringify(made.map(({ id }) => id))
    const { result, queries } = await t.queriesOf(() => t.as(owner).get('/v3/projects', { query: { ids } }))
    assert.equal(result.json().length, 30)
    assert.equal(queries.length, 2)
  })

  test('fifty readers of one cold project cost one query together', async () => {
    const project = await t.make.project()
    const { result, queries } = await t.queriesOf(() =>
      Promise.all(Array.from({ length: 50 }, () => t.anyone.get(`/v3/project/${project.id}`))),
    )
    assert.ok(result.every(({ statusCode }) => statusCode === 200))
    assert.equal(queries.length, 1)
  })
})

test('a project adds up its listed and archived versions only', async () => {
  const project = await t.make.project()
  const at = (day: number) => new Date(Date.UTC(2026, 0, day))
  const second = await t.make.version({
    project,
    loaders: ['quilt', 'fabric'],
    game_versions: ['1.20.5', '1.20.1'],
    date_published: at(2),
  })
  const first = await t.make.version({
    project,
    status: 'archived',
    loaders: ['forge'],
    game_versions: ['1.20.2'],
    date_published: at(1),
  })
  for (const status of ['draft', 'unlisted', 'scheduled', 'unknown'])
    await t.make.version({ project, status, loaders: ['neoforge'], game_versions: ['1.19'], date_published: at(3) })
  const view = (await t.anyone.get(`/v3/project/${project.id}`)).json()
  assert.deepEqual(view.versions, [first.id, second.id], 'oldest first')
  assert.deepEqual(view.loaders, ['fabric', 'forge', 'quilt'])
  assert.deepEqual(view.game_versions, ['1.20.1', '1.20.2', '1.20.5'])
  assert.deepEqual(view.environment, ['unknown'])
  assert.deepEqual(view.project_types, ['mod'])
})
