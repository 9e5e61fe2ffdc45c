// Takedowns: each kind of content, the preview, repetition, permissions and the audit log.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { reviewJobs } from '#features/catalogue/reviews/jobs.ts'
import { newId } from '#lib/ids.ts'
import { MINUTE_MS } from '#lib/time.ts'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { type ConversationFactories, conversationFactories } from '#test/support/factories/conversation-factories.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'

let t: TestApp
let talk: ConversationFactories
let mira: Person
before(async () => {
  t = await testApp()
  talk = conversationFactories(t.deps.db)
  mira = await t.make.account({ role: 'moderator' })
})
after(() => t.close())

const send = (body: object, who: Person | { token: string } = mira) =>
  t.as(who).post('/_internal/moderation/takedown', { reason: 'spam', ...body })
async function takeDown(body: object) {
  const answer = await send(body)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}
const projectStatus = async ({ id }: { id: string }) => (await t.as(mira).get(`/v3/project/${id}`)).json().status
const versionStatus = async ({ id }: { id: string }) => (await t.as(mira).get(`/v3/version/${id}`)).json().status
const actions = async (subject: string): Promise<string[]> => {
  const query = { subject_id: subject }
  const { entries } = (await t.as(mira).get('/_internal/moderation/log', { query })).json()
  return entries.map(({ action }: { action: string }) => action).reverse()
}

test('a project is withheld, its members get the message, and the log has both steps', async () => {
  const project = await t.make.project()
  const body = { kind: 'project', id: project.id, visibility: 'withheld', message: 'It contains **malware**.' }
  const preview = await takeDown({ ...body, dry_run: true })
  assert.deepEqual([preview.changed, preview.projects[0].id, preview.projects[0].members], [false, project.id, 1])
  assert.equal(await projectStatus(project), 'approved')
  assert.deepEqual(await actions(project.id), [])

  const done = await takeDown({ ...body, reference: 'Report 7' })
  assert.deepEqual([done.changed, done.projects[0].status], [true, 'approved'])
  assert.equal(await projectStatus(project), 'withheld')
  t.advance(5 * MINUTE_MS)
  await reviewJobs(t.deps)['decisions.announce']()
  const notes = await talk.notificationsOf(project.owner)
  assert.ok(notes.some(({ type, message }) => type === 'status_change' && message === body.message))
  assert.deepEqual(await actions(project.id), ['content.taken_down', 'project.status_changed'])
  const [entry] = (
    await t.as(mira).get('/_internal/moderation/log', { query: { action: 'content.taken_down' } })
  ).json().entries
  assert.deepEqual([entry.details.reason, entry.details.reference], ['spam', 'Report 7'])
  await takeDown(body)
  assert.deepEqual((await talk.notificationsOf(project.owner)).length, notes.length, 'a repetition changes nothing')
})

/** Projects that all have the same file, with their versions. */
async function withSameFile(count: number) {
  const bytes = randomBytes(64)
  const made: { project: MadeProject; version: { id: string }; sha512: string }[] = []
  for (let n = 0; n < count; n += 1) {
    const project = await t.make.project()
    const version = await t.make.version({ project })
    const { sha512 } = await t.make.file({ version, project, bytes, filename: 'lantern.jar' })
    made.push({ project, version, sha512 })
  }
  return made
}

test('all projects with a file are withheld, or only those that the moderator has seen', async () => {
  const made = await withSameFile(3)
  const [first, second, third] = made.map(({ project }) => project)
  const id = made[0]?.sha512.toUpperCase()
  const preview = await takeDown({ kind: 'file', id, visibility: 'withheld', dry_run: true })
  assert.equal(preview.projects.length, 3)
  await takeDown({ kind: 'file', id, visibility: 'withheld', projects: [first?.id, second?.id] })
  for (const [project, status] of [
    [first, 'withheld'],
    [second, 'withheld'],
    [third, 'approved'],
  ] as const) {
    assert.ok(project !== undefined)
    assert.equal(await projectStatus(project), status)
  }
  await takeDown({ kind: 'file', id, visibility: 'withheld' })
  assert.ok(third !== undefined)
  assert.equal(await projectStatus(third), 'withheld')
})

test('versions are unlisted and the message is in the thread of the project', async () => {
  const [one] = await withSameFile(1)
  assert.ok(one !== undefined)
  const { project, version, sha512 } = one
  await takeDown({ kind: 'version', id: version.id, visibility: 'unlisted', message: 'Please remove the tracker.' })
  assert.equal(await versionStatus(version), 'unlisted')
  assert.equal(await projectStatus(project), 'approved')
  assert.ok((await talk.notificationsOf(project.owner)).some(({ type }) => type === 'moderator_message'))
  assert.deepEqual(await actions(version.id), ['content.taken_down', 'version.status_changed'])
  await t.as(mira).patch(`/v3/version/${version.id}`, { status: 'listed' })
  await takeDown({ kind: 'file', id: sha512, visibility: 'unlisted' })
  assert.equal(await versionStatus(version), 'unlisted')
})

test('the project of a gallery image, a collection and the text of a profile', async () => {
  const project = await t.make.project()
  const image = newId()
  const urls = { url: 'pictures/a', raw_url: 'pictures/a', content_sha1: 'a'.repeat(40) }
  await t.deps.db
    .insertInto('gallery_item')
    .values({ id: image, project_id: project.id, ...urls })
    .execute()
  await takeDown({ kind: 'image', id: image, visibility: 'rejected' })
  assert.equal(await projectStatus(project), 'rejected')

  const owner = await t.make.account()
  const collection = (await t.as(owner).post('/v3/collection', { name: 'Buy lamps' })).json()
  await takeDown({ kind: 'collection', id: collection.id, visibility: 'rejected', message: 'Advertising' })
  assertError(await t.anyone.get(`/v3/collection/${collection.id}`), 404, 'not_found')
  await t.as(owner).patch(`/v3/user/${owner.id}`, { bio: 'Buy lamps' })
  await takeDown({ kind: 'user', id: owner.id, visibility: 'cleared' })
  assert.equal((await t.anyone.get(`/v3/user/${owner.id}`)).json().bio, null)
  const notes = await talk.notificationsOf(owner)
  assert.deepEqual(
    notes.filter(({ type }) => type === 'content_taken_down').map(({ item, message }) => [item, message]),
    [
      ['collection', 'Advertising'],
      ['user', undefined],
    ],
  )
})

test('invalid requests name the field, and unknown content is 404', async () => {
  const { id } = await t.make.project()
  const good = { kind: 'project', id, visibility: 'withheld' }
  const refused: [string, object][] = [
    ['kind', { kind: 'song' }],
    ['id', { id: '../x' }],
    ['id', { kind: 'file', visibility: 'withheld' }],
    ['reason', { reason: 'dull' }],
    ['visibility', { visibility: 'unlisted' }],
    ['visibility', { visibility: 'deleted' }],
    ['message', { message: ' ' }],
    ['message', { message: 'x'.repeat(2001) }],
    ['reference', { reference: 'x'.repeat(257) }],
  ]
  for (const [field, change] of refused) {
    assertError(await send({ ...good, ...change }), 400, 'validation_error', field)
  }
  assertError(await send({ ...good, id: newId() }), 404, 'not_found')
  assertError(await send({ ...good, projects: [newId()] }), 404, 'not_found')
  const hash = randomBytes(64).toString('hex')
  assertError(await send({ kind: 'file', id: hash, visibility: 'withheld' }), 404, 'not_found')
  assert.equal(await projectStatus({ id }), 'approved')
})

test('only moderators with the scopes of all content can take it down', async () => {
  const { id, owner } = await t.make.project()
  const body = { kind: 'project', id, visibility: 'withheld' }
  assertError(await send(body, owner), 403, 'unauthorized')
  assertError(await send(body, await t.make.pat(mira, scopeBits('ALL_BUT', 'VERSION_WRITE'))), 403, 'unauthorized')
  assertError(await t.anyone.post('/_internal/moderation/takedown', { reason: 'spam', ...body }), 401, 'unauthorized')
  assert.equal(await projectStatus({ id }), 'approved')
})
