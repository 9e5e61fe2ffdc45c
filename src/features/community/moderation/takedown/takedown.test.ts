// Takedowns: each kind of content, the preview, repetition, permissions and the audit log.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { newId } from '#lib/ids.ts'
import { HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import type { MadeProject, Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { scopeBits } from '#test/support/factories/team-factories.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'

const { t, talk } = await teamApp()
const mira = await t.make.account({ role: 'moderator' })

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
  await t.runJob('decisions.announce')
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

/** Uploads a jar as a version of a project of another account. */
async function upload(bytes: Buffer, project?: MadeProject) {
  const target = project ?? (await t.make.project())
  const data = versionData({ project_id: target.id, version_number: newId() })
  const { payload, headers } = await form(data, [{ name: 'file', filename: 'lamp.jar', bytes }])
  return t.as(target.owner).post('/v3/version', payload, { headers })
}

test('a takedown blocks the content of a file for downloads and uploads until it is undone', async () => {
  const jar = modJar(newId())
  const made = await upload(jar)
  assert.equal(made.statusCode, 201, made.body)
  const { id: versionId, project_id: projectId, files } = made.json()
  const { url, hashes, filename } = files[0]
  const path = new URL(url).pathname
  const draft = await t.make.project({ status: 'draft' })
  const hidden = await t.make.version({ project: draft })
  await t.make.file({ version: hidden, project: draft, bytes: jar, filename: 'copy.jar' })

  const preview = await takeDown({ kind: 'file', id: hashes.sha512, visibility: 'rejected', dry_run: true })
  assert.deepEqual([preview.id, preview.blocked_files, preview.changed], [null, 1, false])
  assert.equal((await t.anyone.get(path)).statusCode, 200)

  const done = await takeDown({ kind: 'file', id: hashes.sha512, visibility: 'rejected', projects: [projectId] })
  assert.equal(done.blocked_files, 1)
  assertError(await t.anyone.get(path), 404, 'not_found')
  // The author of another project with the content: the file is blocked, not hidden.
  const copy = `/data/${draft.id}/versions/${hidden.id}/copy.jar`
  const blocked = await t.as(draft.owner).get(copy)
  assertError(blocked, 404, 'not_found')
  assert.match(blocked.json().description, /blocked this file/)
  assert.equal((await t.as(mira).get(copy)).statusCode, 200, 'moderators see the evidence')
  assert.equal((await t.as(draft.owner).get(`/v3/version/${hidden.id}/archive.zip`)).statusCode, 404)
  const again = await upload(jar)
  assertError(again, 400, 'invalid_input', 'file')
  assert.match(again.json().description, /blocked the file lamp\.jar/)
  const { total, files: list } = (await t.as(mira).get('/_internal/moderation/blocked_files')).json()
  const entry = list.find(({ sha512 }: { sha512: string }) => sha512 === hashes.sha512)
  assert.ok(total >= 1)
  assert.deepEqual([entry.filename, entry.takedown_id, entry.reason], [filename, done.id, 'spam'])

  const undo = () => t.as(mira).post(`/_internal/moderation/takedown/${done.id}/undo`)
  assert.deepEqual((await undo()).json(), { left: [] })
  assert.equal((await t.anyone.get(path)).statusCode, 200)
  assert.equal(await projectStatus({ id: projectId }), 'approved')
  assert.equal(await versionStatus({ id: versionId }), 'listed')
  assertError(await undo(), 409, 'conflict')
  assert.deepEqual(await actions(hashes.sha512), ['content.taken_down', 'content.takedown_undone'])
})

test('a block of a project prevents that a draft with its file is submitted; only operators lift it', async () => {
  const jar = modJar(newId())
  const project = await t.make.project()
  const { files } = (await upload(jar, project)).json()
  const { sha512 } = files[0].hashes
  const draft = await t.make.project({ status: 'draft' })
  const hidden = await t.make.version({ project: draft })
  await t.make.file({ version: hidden, project: draft, bytes: jar, filename: 'copy.jar' })
  await takeDown({ kind: 'project', id: project.id, visibility: 'rejected' })
  const submit = () => t.as(draft.owner).patch(`/v3/project/${draft.id}`, { status: 'processing' })
  const refused = await submit()
  assertError(refused, 400, 'invalid_input', 'status')
  assert.match(refused.json().description, /blocked the file copy\.jar/)

  const admin = await t.make.account({ role: 'admin' })
  const lift = (who: Person, hash = sha512) => t.as(who).delete(`/_internal/moderation/blocked_files/${hash}`)
  assertError(await lift(mira), 403, 'unauthorized')
  assert.equal((await lift(admin, sha512.toUpperCase())).statusCode, 204)
  assertError(await lift(admin), 404, 'not_found')
  const submitted = await submit()
  assert.match(submitted.body, /Another project published copy\.jar/, 'the file is not blocked, but has an owner')
  assert.equal(await projectStatus(project), 'rejected', 'lifting a block shows nothing again')
  assert.deepEqual(await actions(sha512), ['content.unblocked'])
})

test('an author can publish the files of a copy that was taken down without a block', async () => {
  const jar = modJar(newId())
  const copy = await t.make.project()
  await upload(jar, copy)
  const done = await takeDown({ kind: 'project', id: copy.id, visibility: 'rejected', block_files: false })
  assert.equal(done.blocked_files, 0)
  const author = await t.make.project()
  const published = await upload(jar, author)
  assert.equal(published.statusCode, 201, published.body)
  const { left } = (await t.as(mira).post(`/_internal/moderation/takedown/${done.id}/undo`)).json()
  assert.deepEqual([left.length, left[0].id], [1, copy.id])
  assert.match(left[0].reason, /Another project published lamp\.jar/)
  assert.equal(await projectStatus(copy), 'rejected')
  const { blocked_files } = await takeDown({ kind: 'image', id: await imageOf(copy), visibility: 'rejected' })
  assert.equal(blocked_files, 0, 'an image has no files')
})

test('undoing restores each kind of content, but not what somebody changed since; after an hour only for operators', async () => {
  const project = await t.make.project()
  const other = await t.make.project()
  const version = await t.make.version({ project })
  const owner = await t.make.account()
  const collection = (await t.as(owner).post('/v3/collection', { name: 'Lamps', status: 'listed' })).json()
  await t.as(owner).patch(`/v3/user/${owner.id}`, { bio: 'I like lamps' })
  const listed = (await t.as(mira).get(`/v3/collection/${collection.id}`)).json().status
  const taken: string[] = []
  for (const body of [
    { kind: 'version', id: version.id, visibility: 'unlisted' },
    { kind: 'project', id: project.id, visibility: 'withheld' },
    { kind: 'project', id: other.id, visibility: 'rejected' },
    { kind: 'collection', id: collection.id, visibility: 'rejected' },
    { kind: 'user', id: owner.id, visibility: 'cleared' },
  ])
    taken.push((await takeDown(body)).id)
  await t.as(mira).patch(`/v3/project/${other.id}`, { status: 'withheld' })
  const undo = (id: string, who: Person = mira) => t.as(who).post(`/_internal/moderation/takedown/${id}/undo`)
  for (const id of taken) assert.deepEqual((await undo(id)).json(), { left: [] })
  assert.deepEqual(
    [await versionStatus(version), await projectStatus(project), await projectStatus(other)],
    ['listed', 'approved', 'withheld'],
  )
  assert.equal((await t.anyone.get(`/v3/collection/${collection.id}`)).json().status, listed)
  assert.equal((await t.anyone.get(`/v3/user/${owner.id}`)).json().bio, 'I like lamps')

  const { id } = await takeDown({ kind: 'project', id: project.id, visibility: 'rejected' })
  t.advance(HOUR_MS)
  assertError(await undo(id), 403, 'unauthorized')
  assertError(await undo(id, project.owner), 403, 'unauthorized')
  assertError(await undo(newId()), 404, 'not_found')
  assertError(await undo('not-an-id!'), 400, 'decoding_error')
  const admin = await t.make.account({ role: 'admin' })
  assert.equal((await undo(id, admin)).statusCode, 200)
  assert.equal(await projectStatus(project), 'approved')
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

async function imageOf(project: MadeProject): Promise<string> {
  const id = newId()
  const urls = { url: 'pictures/a', raw_url: 'pictures/a', content_sha1: 'a'.repeat(40) }
  await t.deps.db
    .insertInto('gallery_item')
    .values({ id, project_id: project.id, ...urls })
    .execute()
  return id
}

test('the project of a gallery image, a collection and the text of a profile', async () => {
  const project = await t.make.project()
  await takeDown({ kind: 'image', id: await imageOf(project), visibility: 'rejected' })
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
  for (const [field, change] of refused) assertError(await send({ ...good, ...change }), 400, 'validation_error', field)
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
