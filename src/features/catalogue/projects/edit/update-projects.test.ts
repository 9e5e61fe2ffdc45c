// PATCH /v3/projects changes all of the given projects or none.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ALL_SCOPES, parseScopeNames } from '#features/basics/access/scopes.ts'
import type { Client } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { teamFactories } from '#test/support/factories/team-factories.ts'

const { t } = await teamApp()
const owner = await t.make.account()

const make = (categories: string[] = [], fields: { status?: string } = {}) =>
  t.make.project({ owner, categories, ...fields })
const edit = (projects: readonly { id: string }[], body: unknown, client: Client = t.as(owner)) =>
  client.patch('/v3/projects', body, { query: { ids: JSON.stringify(projects.map(({ id }) => id)) } })
const read = async ({ id }: MadeProject) => (await t.as(owner).get(`/v3/project/${id}`)).json()

describe('effects', () => {
  test('replaces, removes and adds, in this order, on each project separately; warm readers see it immediately', async () => {
    const a = await make(['magic', 'food'])
    const b = await make(['magic'])
    for (const project of [a, b]) await read(project)
    const answer = await edit([a, b], { remove_categories: ['magic'], add_categories: ['storage', 'food'] })
    assert.equal(answer.statusCode, 204, answer.body)
    assert.deepEqual((await read(a)).categories, ['food', 'storage'])
    assert.deepEqual((await read(b)).categories, ['food', 'storage'])
    await edit([a], { categories: ['magic', 'food'], remove_categories: ['magic'], add_categories: ['utility'] })
    assert.deepEqual((await read(a)).categories, ['food', 'utility'])
    await edit([a, b], { add_additional_categories: ['social', 'mobs', 'library', 'cursed'] })
    assert.deepEqual((await read(b)).additional_categories, ['cursed', 'library', 'mobs', 'social'])
    await edit([a, b], { additional_categories: ['social'] })
    assert.deepEqual((await read(a)).additional_categories, ['social'])
    await edit([a], { remove_additional_categories: ['social'] })
    assert.deepEqual((await read(a)).additional_categories, [])
  })

  test('sets the links it names, removes those that are null, keeps the others', async () => {
    const a = await make()
    const b = await make()
    await edit([a, b], { link_urls: { issues: 'https://example.org/i', wiki: 'https://example.org/w' } })
    assert.equal((await edit([a, b], { link_urls: { issues: null, source: 'https://example.org/s' } })).statusCode, 204)
    assert.deepEqual(Object.keys((await read(b)).link_urls), ['source', 'wiki'])
  })

  test('moves `updated` of the projects that change, and of no other', async () => {
    const changed = await make(['magic'])
    const same = await make(['food'])
    const before = [(await read(changed)).updated, (await read(same)).updated]
    t.advance(1000)
    await edit([changed, same], { remove_categories: ['magic'] })
    assert.ok((await read(changed)).updated > before[0])
    assert.equal((await read(same)).updated, before[1])
  })

  test('costs the same for two projects as for fifty', async () => {
    for (const count of [2, 50]) {
      const projects = await Promise.all(Array.from({ length: count }, () => make()))
      const { result, queries } = await t.queriesOf(() => edit(projects, { categories: ['magic'] }))
      assert.equal(result.statusCode, 204)
      assert.equal(queries.length, 7, queries.join('\n'))
    }
  })

  test('no project, no change and unknown keys are 204', async () => {
    const project = await make(['magic'])
    for (const body of [{}, { unheard_of: 1 }, { add_categories: ['magic'] }])
      assert.equal((await edit([project], body)).statusCode, 204)
    assert.equal((await edit([], { categories: ['magic'] })).statusCode, 204)
    assert.deepEqual((await read(project)).categories, ['magic'])
  })

  test('both succeed when requested concurrently in both orders', async () => {
    const projects = [await make(), await make(), await make()]
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        edit(i % 2 === 0 ? projects : projects.toReversed(), { categories: [i % 2 === 0 ? 'food' : 'magic'] }),
      ),
    )
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      Array(6).fill(204),
    )
    const after = await Promise.all(projects.map(read))
    assert.equal(new Set(after.map(({ categories }) => categories[0])).size, 1, 'each edit changes all of them or none')
  })
})

describe('rejected requests, which change nothing', () => {
  test('an unknown, hidden or malformed ID', async () => {
    const project = await make()
    const draft = await t.make.project({ status: 'draft' })
    for (const id of ['zzzzzzzz', draft.id]) {
      const answer = await edit([project, { id }], { categories: ['magic'] })
      assert.deepEqual([answer.statusCode, answer.json().error], [404, 'not_found'])
    }
    const bad = await edit([project, { id: 'a-slug' }], { categories: ['magic'] })
    assert.deepEqual([bad.statusCode, bad.json().error], [400, 'decoding_error'])
    for (const ids of ['', '{}', '[1]']) {
      const answer = await t.as(owner).patch('/v3/projects', {}, { query: { ids } })
      assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_input'])
    }
    assert.equal((await t.as(owner).patch('/v3/projects', {})).statusCode, 400)
    assert.deepEqual((await read(project)).categories, [])
  })

  const refused: [object, string][] = [
    [{ categories: ['magic', 'food', 'mobs', 'social'] }, 'categories'],
    [{ categories: ['sculpture'] }, 'categories.0'],
    [{ add_categories: ['magic', 'sculpture'] }, 'add_categories.1'],
    [{ remove_categories: ['sculpture'] }, 'remove_categories.0'],
    [{ additional_categories: ['sculpture'] }, 'additional_categories.0'],
    [{ add_additional_categories: ['sculpture'] }, 'add_additional_categories.0'],
    [{ remove_additional_categories: ['sculpture'] }, 'remove_additional_categories.0'],
    [{ add_categories: ['food', 'mobs', 'social'] }, 'add_categories'],
    [{ categories: 'magic' }, 'categories'],
    [{ link_urls: { sculpture: 'https://example.org' } }, 'link_urls.sculpture'],
    [{ link_urls: { issues: 'http://example.org' } }, 'link_urls.issues'],
  ]
  for (const [body, field] of refused) {
    test(`${JSON.stringify(body)}, naming ${field}`, async () => {
      const full = await make(['magic'])
      const empty = await make()
      const answer = await edit([empty, full], body)
      assert.deepEqual(
        [answer.statusCode, answer.json().error, answer.json().details.field],
        [400, 'validation_error', field],
      )
      assert.deepEqual([(await read(empty)).categories, (await read(full)).categories], [[], ['magic']])
    })
  }

  test('a category that the taxonomy has dropped can be removed where a project has it', async () => {
    const project = await make(['long-gone'])
    assert.equal((await edit([project], { remove_categories: ['long-gone'] })).statusCode, 204)
    assert.deepEqual((await read(project)).categories, [])
  })
})

describe('permissions', () => {
  test('requires a token, the scope, and EDIT_DETAILS on every project', async () => {
    const mine = await make()
    const other = await t.make.project()
    const stranger = await t.make.account()
    const member = await t.make.account()
    for (const [project, permissions] of [
      [mine, 1023],
      [other, 1023 & ~4],
    ] as const)
      await t.make.member({ teamId: project.teamId, accountId: member.id, permissions })
    const weak = await t.make.pat(owner, ALL_SCOPES - parseScopeNames('PROJECT_WRITE').bits)
    const body = { categories: ['magic'] }
    assert.equal((await edit([mine], body, t.anyone)).statusCode, 401)
    assert.equal((await edit([mine], body, t.as(weak))).statusCode, 403)
    assert.equal((await edit([mine], body, t.as(stranger))).statusCode, 403)
    const partly = await edit([mine, other], body, t.as(member))
    assert.equal(partly.statusCode, 403)
    assert.match(partly.json().description, /EDIT_DETAILS/)
    assert.deepEqual((await read(mine)).categories, [], 'nothing is saved')
    assert.equal((await edit([mine], body, t.as(member))).statusCode, 204)
  })

  test('moderators and admins, and members of the owning organization', async () => {
    const team = teamFactories(t.deps.db)
    const organization = await team.organization(owner)
    const owned = await t.make.project({ owner, organization_id: organization.id })
    const helper = await t.make.account()
    await team.member(organization.teamId, helper, { permissions: 4, organization_permissions: 0 })
    const moderator = await t.make.account({ role: 'moderator' })
    const admin = await t.make.account({ role: 'admin' })
    for (const person of [helper, moderator, admin])
      assert.equal((await edit([owned], { categories: ['food'] }, t.as(person))).statusCode, 204)
  })
})
