import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import type { Person } from '#test/support/factories/factories.ts'
import { teamApp } from '#test/support/factories/team-app.ts'
import { assertError } from '#test/support/http/account-steps.ts'
import { form, modJar, projectData, versionData } from '#test/support/http/forms.ts'

const { t, make, talk } = await teamApp()
const moderator = await t.make.account({ role: 'moderator' })
const png = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#804020' } })
  .png()
  .toBuffer()

type Image = { id: string; url: string }
async function upload(who: Person, context: string, place: Record<string, string> = {}): Promise<Image> {
  const query = { ext: 'png', context, ...place }
  const answer = await t.as(who).post('/v3/image', png, { query, headers: { 'content-type': 'image/png' } })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json()
}
const placeOf = async ({ id }: Image) => {
  const row = await t.deps.db
    .selectFrom('image')
    .select(['project_id', 'version_id', 'report_id', 'thread_message_id'])
    .where('id', '=', id)
    .executeTakeFirst()
  return row === undefined ? 'gone' : (Object.values(row).find((value) => value !== null) ?? 'waiting')
}
/** Returns whether the server still sends each image after the jobs have run. */
const served = async (...images: Image[]): Promise<boolean[]> => {
  await t.runJobs()
  return Promise.all(images.map(async ({ url }) => (await t.anyone.get(new URL(url).pathname)).statusCode === 200))
}
const createProject = async (who: Person, fields: Record<string, unknown>) =>
  t.as(who).post('/v3/project', projectData(`with-images-${t.make.next()}`, fields))
const createVersion = async (who: Person, fields: Record<string, unknown>) => {
  const { payload, headers } = await form(versionData(fields), [
    { name: 'file', bytes: modJar(`salt-${t.make.next()}`) },
  ])
  return t.as(who).post('/v3/version', payload, { headers })
}

test('a new project, version, report and message attach the images in their texts', async () => {
  const owner = await t.make.account()
  const [inProject, inVersion, inReport] = [
    await upload(owner, 'project'),
    await upload(owner, 'version'),
    await upload(owner, 'report'),
  ]
  const project = (await createProject(owner, { uploaded_images: [inProject.id, inProject.id] })).json()
  assert.equal(await placeOf(inProject), project.id)
  const version = await createVersion(owner, { project_id: project.id, uploaded_images: [inVersion.id] })
  assert.equal(version.statusCode, 201, version.body)
  assert.equal(await placeOf(inVersion), version.json().id)
  const report = await t
    .as(owner)
    .post('/v3/report', {
      report_type: 'spam',
      item_type: 'user',
      item_id: moderator.id,
      body: 'See',
      uploaded_images: [inReport.id],
    })
  assert.equal(await placeOf(inReport), report.json().id)

  const images = [await upload(owner, 'thread_message'), await upload(owner, 'thread_message')]
  const associated_images = images.map(({ id }) => id)
  const { thread_id } = report.json()
  const said = await t
    .as(owner)
    .post(`/v3/thread/${thread_id}`, { body: { type: 'text', body: 'Here', associated_images } })
  assert.equal(said.statusCode, 204, said.body)
  const [message] = (await t.as(owner).get(`/v3/thread/${thread_id}`)).json().messages
  assert.deepEqual(message.body.associated_images, associated_images)
  assert.deepEqual(await Promise.all(images.map(placeOf)), [message.id, message.id])
})

test('the first versions of a new project take theirs, and an error names its place', async () => {
  const owner = await t.make.account()
  const image = await upload(owner, 'version')
  const send = async (images: string[]) => {
    const version = versionData({ file_parts: ['file'], uploaded_images: images })
    const data = projectData(`with-versions-${t.make.next()}`, { is_draft: false, initial_versions: [version] })
    const { payload, headers } = await form(data, [{ name: 'file', bytes: modJar(`salt-${t.make.next()}`) }])
    return t.as(owner).post('/v3/project', payload, { headers })
  }
  assertError(await send([image.id, 'unknown0']), 400, 'validation_error', 'initial_versions.0.uploaded_images.1')
  assert.equal(await placeOf(image), 'waiting')
  const answer = await send([image.id])
  assert.equal(answer.statusCode, 201, answer.body)
  assert.equal(await placeOf(image), answer.json().versions[0])
})

test('rejects other users’ images, images of another context and used images, and creates nothing', async () => {
  const [owner, other] = [await t.make.account(), await t.make.account()]
  const used = await upload(owner, 'project')
  assert.equal((await createProject(owner, { uploaded_images: [used.id] })).statusCode, 201)
  const mine = await upload(owner, 'project')
  for (const wrong of [
    await upload(other, 'project'),
    await upload(owner, 'version'),
    used,
    { id: 'unknown0' },
    { id: 'not-base62' },
  ]) {
    const refused = await createProject(owner, { uploaded_images: [mine.id, wrong.id] })
    assertError(refused, 400, 'validation_error', 'uploaded_images.1')
  }
  assert.equal(await placeOf(mine), 'waiting')
  assertError(
    await createProject(owner, { uploaded_images: Array(11).fill(mine.id) }),
    400,
    'validation_error',
    'uploaded_images',
  )
  const { threadId } = await talk.report(owner)
  const say = { body: { type: 'text', body: 'Here', associated_images: [mine.id] } }
  assertError(
    await t.as(owner).post(`/v3/thread/${threadId}`, say),
    400,
    'validation_error',
    'body.associated_images.0',
  )
  assert.deepEqual((await t.as(owner).get(`/v3/thread/${threadId}`)).json().messages, [])
  const { projects } = { projects: (await t.as(owner).get(`/v3/user/${owner.id}/projects`)).json() }
  assert.equal(projects.length, 1)
})

test('only one of several concurrent requests gets an image', async () => {
  const owner = await t.make.account()
  const image = await upload(owner, 'project')
  const answers = await Promise.all([1, 2, 3].map(() => createProject(owner, { uploaded_images: [image.id] })))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 400, 400])
  assert.equal(await placeOf(image), answers.find(({ statusCode }) => statusCode === 201)?.json().id)
})

test('a changed description or summary keeps its images and removes the others', async () => {
  const owner = await t.make.account()
  const project = await make.project(owner)
  const target = { project_id: project.id }
  const [kept, dropped, inSummary] = [
    await upload(owner, 'project', target),
    await upload(owner, 'project', target),
    await upload(owner, 'project', target),
  ]
  const waiting = await upload(owner, 'project')
  const elsewhere = await upload(owner, 'project', { project_id: (await make.project(owner)).id })
  const patch = (body: object) => t.as(owner).patch(`/v3/project/${project.id}`, body)
  assert.equal((await patch({ name: 'Other name' })).statusCode, 204)
  assert.equal((await patch({ slug: `${project.slug}-2` })).statusCode, 204)
  assert.equal(await placeOf(dropped), project.id, 'other fields drop nothing')

  await t.deps.db
    .updateTable('project')
    .set({ summary: `See ${inSummary.url}` })
    .where('id', '=', project.id)
    .execute()
  assert.equal((await patch({ description: `# Look\n![a](${kept.url})` })).statusCode, 204)
  assert.deepEqual(
    await Promise.all([kept, dropped, inSummary, waiting, elsewhere].map(placeOf)).then((all) => all.slice(0, 4)),
    [project.id, 'gone', project.id, 'waiting'],
  )
  assert.notEqual(await placeOf(elsewhere), 'gone')
  assert.deepEqual(await served(kept, dropped, inSummary, waiting), [true, false, true, true])
  assert.equal((await patch({ summary: 'A summary without' })).statusCode, 204)
  assert.deepEqual([await placeOf(kept), await placeOf(inSummary)], [project.id, 'gone'])
  assert.equal((await patch({ description: '' })).statusCode, 204)
  assert.equal(await placeOf(kept), 'gone')
})

test('a rejected change removes no images', async () => {
  const owner = await t.make.account()
  const project = await make.project(owner)
  const image = await upload(owner, 'project', { project_id: project.id })
  assertError(
    await t.as(owner).patch(`/v3/project/${project.id}`, { description: '', status: 'withheld' }),
    403,
    'unauthorized',
  )
  assert.equal(await placeOf(image), project.id)
  assert.deepEqual(await served(image), [true])
})

test('a changed changelog and a changed report drop what they do not name', async () => {
  const owner = await t.make.account()
  const version_id = await make.version((await make.project(owner)).id, owner)
  const [kept, dropped] = [
    await upload(owner, 'version', { version_id }),
    await upload(owner, 'version', { version_id }),
  ]
  assert.equal((await t.as(owner).patch(`/v3/version/${version_id}`, { name: 'Second' })).statusCode, 204)
  assert.equal(await placeOf(dropped), version_id)
  assert.equal(
    (await t.as(owner).patch(`/v3/version/${version_id}`, { changelog: `![](${kept.url})` })).statusCode,
    204,
  )
  assert.deepEqual([await placeOf(kept), await placeOf(dropped)], [version_id, 'gone'])

  const { id: report_id } = await talk.report(owner)
  const [shown, left] = [await upload(owner, 'report', { report_id }), await upload(owner, 'report', { report_id })]
  assert.equal((await t.as(moderator).patch(`/v3/report/${report_id}`, { closed: true })).statusCode, 204)
  assert.equal(await placeOf(left), report_id, 'closing drops nothing')
  assert.equal((await t.as(moderator).patch(`/v3/report/${report_id}`, { body: shown.url })).statusCode, 204)
  assert.deepEqual([await placeOf(shown), await placeOf(left)], [report_id, 'gone'])
})

test('images are deleted with their owner resource', async () => {
  const owner = await t.make.account()
  const project = await make.project(owner)
  const [one, two] = [await make.version(project.id, owner), await make.version(project.id, owner)]
  const ofProject = await upload(owner, 'project', { project_id: project.id })
  const [ofOne, ofTwo] = [
    await upload(owner, 'version', { version_id: one }),
    await upload(owner, 'version', { version_id: two }),
  ]
  const { id, threadId } = await talk.report(owner)
  const [first, second] = [await talk.message(threadId, owner), await talk.message(threadId, owner)]
  const ofReport = await upload(owner, 'report', { report_id: id })
  const ofFirst = await upload(owner, 'thread_message', { thread_message_id: first })
  const ofSecond = await upload(owner, 'thread_message', { thread_message_id: second })
  const all = [ofProject, ofOne, ofTwo, ofReport, ofFirst, ofSecond]

  assert.equal((await t.as(owner).delete(`/v3/version/${one}`)).statusCode, 204)
  assert.deepEqual(await served(...all), [true, false, true, true, true, true])
  assert.equal((await t.as(owner).delete(`/v3/project/${project.id}`)).statusCode, 204)
  assert.deepEqual(await served(...all), [false, false, false, true, true, true])
  assert.equal((await t.as(owner).delete(`/v3/message/${first}`)).statusCode, 204)
  assert.deepEqual(await served(...all), [false, false, false, true, false, true])
  assert.equal((await t.as(moderator).delete(`/v3/report/${id}`)).statusCode, 204)
  assert.deepEqual(await served(...all), Array(6).fill(false))
  assert.deepEqual(await Promise.all(all.map(placeOf)), Array(6).fill('gone'))
})

test('a deleted account leaves only its images in projects and versions', async () => {
  const person = await t.make.account()
  const project = await make.project(person)
  const version = await make.version(project.id, person)
  const stay = [
    await upload(person, 'project', { project_id: project.id }),
    await upload(person, 'version', { version_id: version }),
  ]
  const { id, threadId } = await talk.report(person)
  const message = await talk.message(threadId, person)
  const threadMessage = { thread_message_id: message }
  const go = [
    await upload(person, 'project'),
    await upload(person, 'report', { report_id: id }),
    await upload(person, 'thread_message', threadMessage),
  ]
  assert.equal((await t.as(person).delete(`/v3/user/${person.id}`)).statusCode, 204)
  assert.deepEqual(await served(...stay, ...go), [true, true, false, false, false])
  assert.deepEqual(await Promise.all([...stay, ...go].map(placeOf)), [project.id, version, 'gone', 'gone', 'gone'])
})

test('a text can contain at most 128 images', async () => {
  const owner = await t.make.account()
  const project = await make.project(owner)
  await t.deps.pool.query(
    `insert into image (id, owner_id, context, url, storage_key, size_bytes, project_id)
     select 'held' || n, $1, 'project', 'https://depot.test/x', 'pictures/held' || n, 1, $2 from generate_series(1, 127) n`,
    [owner.id, project.id],
  )
  const send = () =>
    t
      .as(owner)
      .post('/v3/image', png, {
        query: { ext: 'png', context: 'project', project_id: project.id },
        headers: { 'content-type': 'image/png' },
      })
  const answers = await Promise.all([send(), send()])
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 400])
  const refused = await send()
  assertError(refused, 400, 'LimitReached')
  const { rows } = await t.deps.pool.query('select count(*)::int as count from image where owner_id = $1', [owner.id])
  assert.equal(rows[0].count, 128, 'a rejected image leaves nothing')
})
