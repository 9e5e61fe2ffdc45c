// PATCH and DELETE of a project: permissions, status transitions, and effects on other resources.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ALL_SCOPES } from '#features/basics/access/scopes.ts'
import { HOUR_MS } from '#lib/time.ts'
import { PROJECT_STATUSES } from '#taxonomy/project-status.ts'
import { testApp } from '#test/support/app/test-app.ts'
import type { MadeProject } from '#test/support/factories/factories.ts'
import { modJar } from '#test/support/http/forms.ts'

const t = await testApp()
after(() => t.close())
const moderator = await t.make.account({ role: 'moderator' })
const admin = await t.make.account({ role: 'admin' })
const stranger = await t.make.account()

const patch = (project: MadeProject, body: unknown, person: { token: string } = project.owner) =>
  t.as(person).patch(`/v3/project/${project.id}`, body)
const read = async (project: MadeProject) => (await t.as(project.owner).get(`/v3/project/${project.id}`)).json()

test('an edit of an outdated revision names the member who saved, and the time; moderators stay anonymous', async () => {
  const project = await t.make.project()
  const outdated = async () => {
    const { revision } = await read(project)
    return (body: object) =>
      t.as(project.owner).patch(`/v3/project/${project.id}`, body, { headers: { 'if-match': `"${revision}"` } })
  }
  const send = await outdated()
  assert.equal((await patch(project, { summary: 'Saved by another tab.' })).statusCode, 204)
  const refused = await send({ summary: 'Typed here.' })
  assert.equal(refused.statusCode, 409, refused.body)
  const { changed_by, changed_at } = refused.json().details
  assert.equal(changed_by, project.owner.username)
  assert.ok(Math.abs(Date.parse(changed_at) - Date.now()) < HOUR_MS)
  const again = await outdated()
  assert.equal((await patch(project, { summary: 'Corrected by a moderator.' }, moderator)).statusCode, 204)
  assert.equal((await again({ name: 'Typed here' })).json().details.changed_by, null)
})

describe('fields', () => {
  test('each is saved, visible immediately to a warm reader, and changes `updated`', async () => {
    const project = await t.make.project()
    const before = (await t.anyone.get(`/v3/project/${project.id}`)).json()
    t.advance(1000)
    const body = {
      name: '  Renamed  ',
      summary: 'Another summary.',
      description: 'Another body.',
      categories: ['mobs', 'magic'],
      additional_categories: ['technology'],
      license_id: 'mit OR Apache-2.0'.replace('mit', 'MIT'),
      license_url: 'https://example.org/license',
      link_urls: { issues: 'https://example.org/issues', wiki: 'https://example.org/wiki' },
      slug: `${project.slug}-NEW`,
    }
    assert.equal((await patch(project, body)).statusCode, 204)
    const after = (await t.anyone.get(`/v3/project/${project.id}`)).json()
    assert.equal(after.name, 'Renamed')
    assert.equal(after.summary, body.summary)
    assert.equal(after.description, body.description)
    assert.deepEqual(after.categories, ['magic', 'mobs'])
    assert.deepEqual(after.additional_categories, ['technology'])
    assert.deepEqual(after.license, {
      id: 'MIT OR Apache-2.0',
      name: 'MIT License, Apache License 2.0',
      url: 'https://example.org/license',
    })
    assert.equal(after.link_urls.wiki.url, 'https://example.org/wiki')
    assert.equal(after.slug, `${project.slug}-new`)
    assert.ok(after.updated > before.updated)
    assert.equal((await t.anyone.get(`/v3/project/${project.slug}-new`)).statusCode, 200)
    assert.equal((await t.anyone.get(`/v3/project/${project.slug}`)).statusCode, 404, 'the old slug leads nowhere')
  })

  test('links that are named are replaced or removed, the others stay', async () => {
    const project = await t.make.project()
    await patch(project, { link_urls: { issues: 'https://a.example', wiki: 'https://b.example' } })
    await patch(project, { link_urls: { issues: null, source: 'https://c.example', no_such_platform: null } })
    assert.deepEqual(Object.keys((await read(project)).link_urls), ['source', 'wiki'])
  })

  test('null clears license_url; the own slug sent back changes nothing', async () => {
    const project = await t.make.project()
    await patch(project, { license_url: 'https://a.example' })
    assert.equal((await patch(project, { license_url: null, slug: project.slug })).statusCode, 204)
    assert.equal((await read(project)).license.url, null)
  })

  test('an empty body is 204 for a user with permission to edit', async () => {
    const project = await t.make.project()
    assert.equal((await patch(project, {})).statusCode, 204)
  })

  const refused: [string, unknown][] = [
    ['name', { name: 'ab' }],
    ['name', { name: 'a'.repeat(65) }],
    ['name', { name: ' ab ' }],
    ['name', { name: 5 }],
    ['summary', { summary: 'a'.repeat(257) }],
    ['description', { description: 'a'.repeat(65_537) }],
    ['categories', { categories: ['magic', 'mobs', 'food', 'storage'] }],
    ['categories.0', { categories: ['no-such'] }],
    ['additional_categories.0', { additional_categories: ['no-such'] }],
    ['license_id', { license_id: 'mit' }],
    ['license_url', { license_url: 'ftp://a.example' }],
    ['slug', { slug: 'no slug' }],
    ['link_urls.no_such_platform', { link_urls: { no_such_platform: 'https://a.example' } }],
    ['link_urls.issues', { link_urls: { issues: 5 } }],
    ['status', { status: 'no-such' }],
    ['requested_status', { requested_status: 'withheld' }],
  ]
  for (const [field, body] of refused) {
    test(`${JSON.stringify(body).slice(0, 60)} is rejected, naming ${field}, and nothing is saved`, async () => {
      const project = await t.make.project()
      const answer = await patch(project, {
        ...(body as object),
        ...(field === 'description' ? {} : { description: 'must not be saved' }),
      })
      assert.equal(answer.statusCode, 400, answer.body)
      assert.equal(answer.json().error, 'validation_error')
      assert.equal(answer.json().details.field, field)
      assert.equal((await read(project)).description, '# Test')
    })
  }

  test('a used slug is 409, and one of two concurrent requests gets a free slug', async () => {
    const [a, b, c] = [await t.make.project(), await t.make.project(), await t.make.project()]
    assert.equal((await patch(a, { slug: b.slug })).statusCode, 409)
    assert.equal((await patch(a, { slug: b.id })).statusCode, 409)
    const answers = await Promise.all([patch(a, { slug: 'wanted-by-two' }), patch(c, { slug: 'wanted-by-two' })])
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 409])
  })
})

describe('permissions', () => {
  test('requires a token, the scope and the permission; hidden projects are 404', async () => {
    const project = await t.make.project()
    const hidden = await t.make.project({ status: 'draft' })
    assert.equal((await t.anyone.patch(`/v3/project/${project.id}`, { name: 'Nope' })).statusCode, 401)
    const weak = await t.make.pat(project.owner, ALL_SCOPES - 4096)
    const noScope = await patch(project, { name: 'Nope' }, weak)
    assert.equal(noScope.statusCode, 403)
    assert.match(noScope.json().description, /PROJECT_WRITE/)
    assert.equal((await patch(project, { name: 'Nope' }, stranger)).statusCode, 403)
    assert.equal((await patch(hidden, { name: 'Nope' }, stranger)).statusCode, 404)
    assert.equal((await t.as(stranger).patch('/v3/project/no-such-project', { name: 'Nope' })).statusCode, 404)
  })

  test('description wants EDIT_BODY, the rest EDIT_DETAILS, and nothing is saved when one is missing', async () => {
    const project = await t.make.project()
    const details = await t.make.account()
    const body = await t.make.account()
    const pending = await t.make.account()
    await t.make.member({ teamId: project.teamId, accountId: details.id, permissions: 4 })
    await t.make.member({ teamId: project.teamId, accountId: body.id, permissions: 8 })
    await t.make.member({ teamId: project.teamId, accountId: pending.id, permissions: 1023, accepted: false })
    assert.equal((await patch(project, { name: 'By details' }, details)).statusCode, 204)
    assert.equal((await patch(project, { description: 'By body' }, body)).statusCode, 204)
    assert.equal((await patch(project, { name: 'Mixed', description: 'Mixed' }, details)).statusCode, 403)
    assert.equal((await patch(project, { name: 'Mixed', description: 'Mixed' }, body)).statusCode, 403)
    assert.equal((await patch(project, { name: 'Pending' }, pending)).statusCode, 403)
    assert.equal((await read(project)).name, 'By details')
    assert.equal((await read(project)).description, 'By body')
    assert.equal((await patch(project, { name: 'By moderator', description: 'x' }, moderator)).statusCode, 204)
    assert.equal((await patch(project, { name: 'By admin' }, admin)).statusCode, 204)
  })

  test('moderation messages are a moderator’s; an owner can clear one after the review', async () => {
    const project = await t.make.project()
    assert.equal((await patch(project, { moderation_message: 'x' })).statusCode, 403)
    assert.equal(
      (await patch(project, { moderation_message: 'Please', moderation_message_body: 'Change it' }, moderator))
        .statusCode,
      204,
    )
    assert.deepEqual((await read(project)).moderator_message, { message: 'Please', body: 'Change it' })
    assert.equal((await patch(project, { moderation_message: null, moderation_message_body: null })).statusCode, 204)
    assert.equal((await read(project)).moderator_message, null)
    assert.equal((await patch(project, { monetization_status: 'force-demonetized' })).statusCode, 403)
    assert.equal((await patch(project, { monetization_status: 'demonetized' })).statusCode, 204)
  })
})

describe('transitions of the status', () => {
  const approvedClass = ['approved', 'archived', 'unlisted', 'private']
  const mayOwner = (from: string, to: string) =>
    approvedClass.includes(from)
      ? [...approvedClass, 'draft', 'scheduled'].includes(to)
      : to === 'processing' || (from === 'processing' && to === 'draft')
  for (const from of PROJECT_STATUSES) {
    test(`from ${from}: the owner can do what the table says, a moderator everything`, async () => {
      const later = new Date(Date.now() + HOUR_MS).toISOString()
      const owner = await t.make.account()
      for (const to of PROJECT_STATUSES) {
        if (to === from) continue
        const body =
          to === 'scheduled' ? { status: to, requested_status: 'approved', scheduled_at: later } : { status: to }
        const make = async () => {
          const project = await t.make.project({ status: from, owner })
          await t.make.version({ project })
          return project
        }
        const project = await make()
        const byOwner = await patch(project, body)
        assert.equal(byOwner.statusCode, mayOwner(from, to) ? 204 : 403, `owner ${from} → ${to}: ${byOwner.body}`)
        if (byOwner.statusCode === 204) assert.equal((await read(project)).status, to)
        const other = byOwner.statusCode === 204 ? await make() : project
        assert.equal((await patch(other, body, moderator)).statusCode, 204, `moderator ${from} → ${to}`)
        assert.equal((await read(other)).status, to)
      }
    })
  }

  test('a review needs a listed version', async () => {
    const project = await t.make.project({ status: 'draft' })
    await t.make.version({ project, status: 'draft' })
    const answer = await patch(project, { status: 'processing' })
    assert.equal(answer.statusCode, 400)
    assert.equal(answer.json().error, 'invalid_input')
    await t.make.version({ project })
    assert.equal((await patch(project, { status: 'processing' })).statusCode, 204)
    assert.notEqual((await read(project)).queued, null)
  })

  test('the first approval is remembered, and entering review clears the moderator’s message', async () => {
    const project = await t.make.project({ status: 'draft' })
    await t.make.version({ project })
    await patch(project, { moderation_message: 'First fix this' }, moderator)
    await patch(project, { status: 'processing' })
    assert.equal((await read(project)).moderator_message, null)
    await patch(project, { status: 'approved' }, moderator)
    const { approved } = await read(project)
    assert.notEqual(approved, null)
    t.advance(5000)
    await patch(project, { status: 'private' })
    await patch(project, { status: 'approved' })
    assert.equal((await read(project)).approved, approved)
  })

  test('a schedule needs a future time and what follows', async () => {
    const project = await t.make.project()
    const later = new Date(Date.now() + HOUR_MS).toISOString()
    for (const [body, field] of [
      [{ status: 'scheduled', requested_status: 'approved' }, 'scheduled_at'],
      [{ status: 'scheduled', requested_status: 'approved', scheduled_at: '2020-01-01T00:00:00Z' }, 'scheduled_at'],
      [{ status: 'scheduled', requested_status: null, scheduled_at: later }, 'requested_status'],
      [{ status: 'approved', scheduled_at: later }, 'scheduled_at'],
    ] as const) {
      const answer = await patch(project, body)
      assert.equal(answer.statusCode, 400, JSON.stringify(body))
      assert.equal(answer.json().details.field, field)
    }
    const fresh = await t.make.project({ status: 'draft' })
    await t.make.version({ project: fresh })
    assert.equal(
      (await patch(fresh, { status: 'scheduled', requested_status: 'approved', scheduled_at: later })).statusCode,
      403,
    )
  })

  test('each change is in the thread; that of a moderator notifies the members, without a name', async () => {
    const project = await t.make.project({ status: 'processing' })
    await patch(project, { status: 'approved' }, moderator)
    await patch(project, { status: 'archived' })
    const messages = await t.deps.db
      .selectFrom('thread_message')
      .innerJoin('thread', 'thread.id', 'thread_message.thread_id')
      .select(['thread_message.body', 'thread_message.hide_identity'])
      .where('thread.project_id', '=', project.id)
      .orderBy('thread_message.created')
      .execute()
    assert.deepEqual(messages, [
      { body: { type: 'status_change', old_status: 'processing', new_status: 'approved' }, hide_identity: true },
      { body: { type: 'status_change', old_status: 'approved', new_status: 'archived' }, hide_identity: false },
    ])
    const notified = await t.deps.db
      .selectFrom('notification')
      .select('body')
      .where('account_id', '=', project.owner.id)
      .execute()
    assert.deepEqual(notified.map(({ body }) => (body as { type: string }).type).sort(), [
      'project_status_approved',
      'status_change',
    ])
  })

  test('versions of a hidden project are invisible immediately, also for a warm reader', async () => {
    const project = await t.make.project()
    const version = await t.make.version({ project })
    assert.equal((await t.anyone.get(`/v3/version/${version.id}`)).statusCode, 200)
    await patch(project, { status: 'private' })
    assert.equal((await t.anyone.get(`/v3/version/${version.id}`)).statusCode, 404)
    assert.equal((await t.anyone.get(`/v3/project/${project.id}`)).statusCode, 404)
  })
})

describe('deletion', () => {
  test('wants its scope and permission', async () => {
    const project = await t.make.project()
    const member = await t.make.account()
    await t.make.member({ teamId: project.teamId, accountId: member.id, permissions: 1023 - 128 })
    const path = `/v3/project/${project.slug}`
    assert.equal((await t.anyone.delete(path)).statusCode, 401)
    assert.equal((await t.as(await t.make.pat(project.owner, ALL_SCOPES - 8192)).delete(path)).statusCode, 403)
    for (const person of [stranger, member, moderator]) assert.equal((await t.as(person).delete(path)).statusCode, 403)
    const hidden = await t.make.project({ status: 'draft' })
    assert.equal((await t.as(stranger).delete(`/v3/project/${hidden.id}`)).statusCode, 404)
    assert.equal((await t.as(admin).delete(`/v3/project/${hidden.id}`)).statusCode, 204)
  })

  test('takes versions, files, follows and the team with it, and frees slug and bytes', async () => {
    const project = await t.make.project()
    const version = await t.make.version({ project })
    const file = await t.make.file({ version, project, bytes: modJar('deleted') })
    const dependent = await t.make.project()
    const dependentVersion = await t.make.version({ project: dependent })
    await t.deps.db
      .insertInto('dependency')
      .values({ dependent_id: dependentVersion.id, project_id: project.id, dependency_type: 'required' })
      .execute()
    await t.deps.db.insertInto('follow').values({ account_id: stranger.id, project_id: project.id }).execute()
    assert.equal((await t.anyone.get(`/v3/version/${dependentVersion.id}`)).json().dependencies.length, 1)
    assert.equal((await t.as(project.owner).delete(`/v3/project/${project.id}`)).statusCode, 204)
    assert.equal((await t.anyone.get(`/v3/project/${project.slug}`)).statusCode, 404)
    assert.equal((await t.anyone.get(`/v3/version/${version.id}`)).statusCode, 404)
    assert.deepEqual((await t.anyone.get(`/v3/version/${dependentVersion.id}`)).json().dependencies, [])
    assert.notEqual(await t.deps.files.stat(file.storageKey), undefined, 'bytes go after the commit')
    await t.runJobs()
    assert.equal(await t.deps.files.stat(file.storageKey), undefined)
    assert.equal((await t.deps.db.selectFrom('team').selectAll().where('id', '=', project.teamId).execute()).length, 0)
    assert.equal(
      (await t.deps.db.selectFrom('file_content').selectAll().where('sha512', '=', file.sha512).execute()).length,
      0,
    )
    assert.equal((await t.as(project.owner).delete(`/v3/project/${project.id}`)).statusCode, 404)
  })

  test('succeeds once for two concurrent requests', async () => {
    const project = await t.make.project()
    const answers = await Promise.all([1, 2].map(() => t.as(project.owner).delete(`/v3/project/${project.id}`)))
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [204, 404])
  })
})
